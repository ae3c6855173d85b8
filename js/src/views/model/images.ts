/** Where one query looks on the image, in every head: its rows are read from all layers in turn. */

import { computed, signal } from "@preact/signals-core";
import { pauses } from "../../data/combine.ts";
import { type Head, patchesOn, type StackInfo } from "../../data/manifest.ts";
import { shownTokens } from "../../data/shown.ts";
import type { StackStore } from "../../data/stack-store.ts";
import type { Box } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import type { Option } from "../../parts/choice.ts";
import { headLens, isAttention } from "../../state/lens.ts";
import { lockedOn } from "../../state/locks.ts";
import { roundedClip } from "../shared/all-heads/thumbnail.ts";
import { total } from "../shared/heads/matrices.ts";
import { imageOf, marksOf, paintImage, paintMarks, veilOf } from "../shared/picture/paint.ts";
import { firstQuery, largestOn, shadesOf, tokensOf } from "../shared/picture/shade.ts";
import type { Context } from "../shared/view.ts";

/** What has arrived of the rows of these queries. */
interface Read {
  readonly stack: StackInfo | null;
  readonly of: readonly number[];
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
  const read = signal<Read>({ stack: null, of: [], rows: new Map(), missing: [] });
  /** Why there are no images; null if there are. */
  const refusal = computed(() => {
    if (manifest.texts !== null) return "of a single text";
    const { stack: of, missing } = read.value;
    return of === stack.value && missing.length === of.layers.length ? missing[0] : null;
  });
  const asked = computed(() => state.thumbnails.value === "image" && grid.value !== null);
  const shown = computed(() => asked.value && refusal.value === null);
  const tokens = computed(() => shownTokens(state.segments.value, stack.value));
  const from = computed((): readonly number[] => {
    const locked = lockedOn(state, "query");
    if (locked.length) return locked;
    const { queries, layers } = stack.value;
    const withoutPatch = tokens.value.queries.filter((at) => queries.patches?.of[at] == null);
    const on = withoutPatch.length ? null : patchesOn(manifest, stack.value, state.grid.value);
    return [firstQuery(stack.value, layers[0], withoutPatch, on?.query ?? null)];
  });
  scope.scopedEffect((own) => {
    if (shown.value) void readRows(store.stack(stack.value.name), from.value, own.signal);
  });

  async function readRows(source: StackStore, of: readonly number[], aborted: AbortSignal) {
    const { info } = source;
    const pause = pauses();
    read.value = { stack: info, of, rows: new Map(), missing: [] };
    for (const { number } of info.layers) {
      const before = read.peek();
      let now: Read;
      try {
        const all = await Promise.all(of.map((at) => source.headRows(number, at, aborted)));
        const sums = all[0].map((_, head) => total(all.map((heads) => heads[head])));
        now = { ...before, rows: new Map([...before.rows, [number, sums]]) };
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
    const [patches, of, colors] = [grid.value, from.value, palette.value];
    if (!shown.value || !patches) return null;
    const image = imageOf(manifest.images[patches.image]).value;
    const { value: on } = stack;
    const { queries, keys } = on;
    const own = queries === keys ? of : [];
    const seen = new Set(tokens.value.keys);
    const placed = [...seen].filter((key) => keys.patches?.of[key] != null);
    const ofPatches = tokensOf(patches).map((token) => (seen.has(token) ? token : -1));
    const marks = marksOf(own, patches, colors.accent, 1.5);
    return (to: Painter, { layer, head }: Head, box: Box) => {
      const [x, y, width, height] = box;
      const now = read.peek();
      const weights =
        (now.stack === on && now.of === of && now.rows.get(layer.number)?.[head]) || [];
      const shades = shadesOf(weights, ofPatches, largestOn(weights, placed, own));
      to.save();
      roundedClip(to, box, colors);
      to.translate(x, y);
      const across = { width, height };
      paintImage(to, image, patches, veilOf(shades, patches, colors), across, colors);
      paintMarks(to, marks, patches, across, colors);
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
      const names = from.value.map((at) => stack.value.queries.labels[at]).join(" + ");
      const what = stack.value.difference ? "difference" : "weight";
      return `image: ${names} → patches, √(${what} ÷ each head’s largest)`;
    }),
    /** What is missing; "" for nothing. */
    remark: computed(() => {
      if (!asked.value) return "";
      if (refusal.value) return `pictures are matrices: ${refusal.value}`;
      const { rows, missing } = read.value;
      if (rows.size + missing.length < stack.value.layers.length) return "reading all layers …";
      return missing[0] ?? (isAttention(headLens(state)) ? "" : "images are of attention");
    }),
  };
}
