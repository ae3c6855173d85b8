/** Where one query looks on the image, in every head: its rows are read from all layers in turn. */

import { computed, signal } from "@preact/signals-core";
import { pauses } from "../../data/combine.ts";
import { type Head, type LayerInfo, patchesOn } from "../../data/manifest.ts";
import { Absent } from "../../data/resource-cache.ts";
import { shownTokens } from "../../data/shown.ts";
import type { StackStore } from "../../data/stack-store.ts";
import type { Box } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import { layerNames } from "../../parts/fidelity.ts";
import type { Phrase } from "../../parts/text.ts";
import { attentionOf, headLens } from "../../state/lens.ts";
import { lockedOn } from "../../state/locks.ts";
import { roundedClip } from "../shared/all-heads/thumbnail.ts";
import { imageOf, marksOf, paintImage, paintMarks, veilOf } from "../shared/picture/paint.ts";
import { firstQuery, largestOn, shadesOf, tokensOf } from "../shared/picture/shade.ts";
import type { Context } from "../shared/view.ts";

/** What has arrived of the rows of these queries. */
interface Read {
  readonly of: readonly number[];
  /** Their sum in each head, [heads, keys], by the number of the layer. */
  readonly rows: ReadonlyMap<number, Float32Array>;
  /** The layers that cannot be had. */
  readonly absent: readonly LayerInfo[];
  /** The message of what went wrong; "" for nothing. */
  readonly failed: string;
}

export function headImages({ scope, state, store, palette }: Context) {
  const { manifest } = store;
  const stack = computed(() => state.shown.stack.value);
  /** The grid of patches that is shown; null if the keys have none. */
  const grid = computed(() => patchesOn(manifest, stack.value, state.grid.value)?.key ?? null);
  const read = signal<Read>({ of: [], rows: new Map(), absent: [], failed: "" });
  /** Why there are no images; null if there are. */
  const refusal = computed(() => {
    if (manifest.texts !== null) return "of a single text";
    const { layers } = stack.value;
    const none = layers.every((layer) => read.value.absent.includes(layer));
    return none ? "the layers are not in this page" : null;
  });
  const shown = computed(
    () => state.thumbnails.value === "image" && refusal.value === null && grid.value !== null,
  );
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
    const pause = pauses();
    read.value = { of, rows: new Map(), absent: [], failed: "" };
    for (const layer of source.info.layers) {
      try {
        const all = await Promise.all(of.map((at) => source.headRows(layer.number, at, aborted)));
        const size = source.info.keys.labels.length;
        const sum = new Float32Array(layer.heads * size);
        for (const heads of all) {
          heads.forEach((row, head) => {
            row.forEach((weight, key) => {
              sum[head * size + key] += weight;
            });
          });
        }
        await pause();
        if (aborted.aborted) return;
        const { rows } = read.peek();
        read.value = { ...read.peek(), rows: new Map([...rows, [layer.number, sum]]) };
      } catch (error) {
        if (aborted.aborted) return;
        const before = read.peek();
        if (error instanceof Absent) read.value = { ...before, absent: [...before.absent, layer] };
        else {
          read.value = { ...before, failed: error instanceof Error ? error.message : `${error}` };
          return;
        }
      }
    }
  }

  /** A painter of heads by what is chosen, and what has arrived when it paints. */
  const painter = computed(() => {
    const [patches, of, colors] = [grid.value, from.value, palette.value];
    if (!shown.value || !patches) return null;
    const image = imageOf(manifest.images[patches.image]).value;
    const { queries, keys } = stack.value;
    const own = queries === keys ? of : [];
    const seen = new Set(tokens.value.keys);
    const placed = [...seen].filter((key) => keys.patches?.of[key] != null);
    const ofPatches = tokensOf(patches).map((token) => (seen.has(token) ? token : -1));
    const marks = marksOf(own, patches, colors.accent, 1.5);
    const size = keys.labels.length;
    return (to: Painter, { layer, head }: Head, box: Box) => {
      const [x, y, width, height] = box;
      const now = read.peek();
      const rows = now.of === of ? now.rows.get(layer.number) : null;
      const weights = rows?.subarray(head * size, (head + 1) * size) ?? [];
      const shades = shadesOf(weights, ofPatches, largestOn(weights, placed, own));
      to.save();
      roundedClip(to, box);
      to.translate(x, y);
      const across = { width, height };
      paintImage(to, image, patches, veilOf(shades, patches, colors), across, colors);
      paintMarks(to, marks, patches, across, colors);
      to.restore();
    };
  });

  return {
    grid,
    refusal,
    shown,
    painter,
    /** The rows that have arrived. */
    rows: computed(() => read.value.rows),
    legend: computed((): Phrase => {
      const names = from.value.map((at) => stack.value.queries.labels[at]).join(" + ");
      const what = stack.value.difference ? "difference" : "weight";
      return [`   image: ${names} → patches, √(${what} ÷ largest of each head)`];
    }),
    /** What is missing; "" for nothing. */
    remark: computed(() => {
      const { rows, absent, failed } = read.value;
      if (state.thumbnails.value !== "image" || !grid.value) return "";
      if (refusal.value) return `pictures are matrices: ${refusal.value}`;
      if (failed) return failed;
      const waits = rows.size + absent.length < stack.value.layers.length;
      if (waits) return "reading all layers …";
      return [
        absent.length ? `${layerNames(absent)} not in this page` : "",
        headLens(state) === attentionOf(state) ? "" : "images are of attention",
      ]
        .filter(Boolean)
        .join("; ");
    }),
  };
}
