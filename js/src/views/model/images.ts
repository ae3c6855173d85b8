/** Where one query looks on the image, in every head: its rows are read from all layers in turn. */

import { computed, signal } from "@preact/signals-core";
import { pauses } from "../../data/combine.ts";
import { type Head, isAttention, patchesOn, type StackInfo } from "../../data/manifest.ts";
import { shownTokens } from "../../data/shown.ts";
import type { Box } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import type { Option } from "../../parts/choice.ts";
import { attentionOf, headLens } from "../../state/lens.ts";
import { lockedOn } from "../../state/locks.ts";
import { roundedClip } from "../shared/all-heads/thumbnail.ts";
import { total } from "../shared/heads/matrices.ts";
import {
  boxesOf,
  imageOf,
  marksOf,
  paintImage,
  paintMarks,
  veilOf,
} from "../shared/picture/paint.ts";
import { firstQuery, largestOn, shadesOf, tokensOf } from "../shared/picture/shade.ts";
import type { Context } from "../shared/view.ts";

interface Looking {
  readonly stack: StackInfo;
  readonly queries: readonly number[];
}

/** What has arrived of the rows of these queries. */
interface Read {
  readonly of: Looking | null;
  /** Their sum in each head, by the number of the layer. */
  readonly rows: ReadonlyMap<number, readonly Float32Array[]>;
  /** What is said of each layer that cannot be had. */
  readonly missing: readonly string[];
}

export function headImages({ scope, state, store, palette }: Context) {
  const { manifest } = store;
  const stack = computed(() => state.shown.stack.value);
  /** The grid of patches that is shown; null if the keys have none. */
  const grid = computed(() => patchesOn(manifest, stack.value, state.grid.value)?.key ?? null);
  const read = signal<Read>({ of: null, rows: new Map(), missing: [] });
  /** Why there are no images; null if there are. */
  const refusal = computed(() => {
    if (manifest.texts !== null) return "of a single text";
    const { of, missing } = read.value;
    const { value: now } = stack;
    return of?.stack === now && missing.length === now.layers.length ? missing[0] : null;
  });
  const asked = computed(() => state.thumbnails.value === "image" && grid.value !== null);
  const shown = computed(() => asked.value && refusal.value === null);
  const looking = computed((): Looking => {
    const { value: now } = stack;
    const locked = lockedOn(state, "query");
    if (locked.length) return { stack: now, queries: locked };
    const { queries, layers } = now;
    const tokens = shownTokens(state.segments.value, now).queries;
    const withoutPatch = tokens.filter((at) => queries.patches?.of[at] == null);
    const on = patchesOn(manifest, now, state.grid.value);
    return { stack: now, queries: [firstQuery(now, layers[0], withoutPatch, on?.query ?? null)] };
  });
  scope.scopedEffect((own) => {
    if (shown.value) void readRows(looking.value, own.signal);
  });

  async function readRows(of: Looking, aborted: AbortSignal): Promise<void> {
    const source = store.stack(of.stack.name);
    const pause = pauses();
    read.value = { of, rows: new Map(), missing: [] };
    for (const { number } of of.stack.layers) {
      const before = read.peek();
      let now: Read;
      try {
        const all = await Promise.all(of.queries.map((at) => source.headRows(number, at, aborted)));
        const sums = all[0].map((_, head) => total(all.map((heads) => heads[head])));
        now = { ...before, rows: new Map(before.rows).set(number, sums) };
        await pause();
      } catch (error) {
        now = { ...before, missing: [...before.missing, (error as Error).message] };
      }
      if (aborted.aborted) return;
      read.value = now;
    }
  }

  /** A painter of heads by what is chosen, and what has arrived when it paints. */
  const painter = computed(() => {
    const [patches, of, colors] = [grid.value, looking.value, palette.value];
    if (!shown.value || !patches) return null;
    const image = imageOf(manifest.images[patches.image]).value;
    const { queries, keys } = of.stack;
    const own = queries === keys ? of.queries : [];
    const seen = shownTokens(state.segments.value, of.stack).keys;
    const placed = seen.filter((key) => keys.patches?.of[key] != null);
    const ofPatches = tokensOf(patches).map((token) => (seen.includes(token) ? token : -1));
    const marks = [
      ...marksOf(own, patches, colors.accent, 1.5),
      ...boxesOf(of.queries, queries, patches, colors.accent, 1.5),
    ];
    return (to: Painter, { layer, head }: Head, box: Box) => {
      const [left, top, width, height] = box;
      const now = read.peek();
      const weights = (now.of === of && now.rows.get(layer.number)?.[head]) || [];
      const shades = shadesOf(weights, ofPatches, largestOn(weights, placed, own));
      to.save();
      roundedClip(to, box, colors);
      to.translate(left, top);
      const size = { width, height };
      paintImage(to, image, patches, veilOf(shades, patches, colors), size, colors);
      paintMarks(to, marks, patches, size, colors);
      to.restore();
    };
  });

  return {
    /** The aspect of the image; null while there is none. */
    aspect: computed(() => (shown.value && grid.value?.aspect) || null),
    /** The option of the menu, where the keys have places on an image. */
    option: computed((): readonly Option[] => {
      const title = refusal.value ?? "";
      return grid.value ? [{ value: "image", label: "Image", title, off: title !== "" }] : [];
    }),
    shown,
    painter,
    /** The rows that have arrived. */
    rows: computed(() => read.value.rows),
    legend: computed(() => {
      const { stack: now, queries } = looking.value;
      const names = queries.map((at) => now.queries.labels[at]).join(" + ");
      const what = now.difference ? "difference" : attentionOf(state).one;
      return `image: ${names} → patches, √(${what} ÷ each head’s largest)`;
    }),
    /** What is missing; "" for nothing. */
    remark: computed(() => {
      if (!asked.value) return "";
      if (refusal.value) return `no images: ${refusal.value}`;
      const { rows, missing } = read.value;
      if (rows.size + missing.length < stack.value.layers.length) return "reading all layers …";
      return missing[0] ?? (isAttention(headLens(state)) ? "" : "images are of attention");
    }),
  };
}
