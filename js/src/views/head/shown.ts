/** The matrices that the head view shows, and what they are called. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import type { Combined } from "../../data/combine.ts";
import type { Layer } from "../../data/layer.ts";
import { layerNumber } from "../../data/pairing.ts";
import { isWeights } from "../../state/lens.ts";
import type { State } from "../../state/state.ts";
import type { Axes } from "../shared/axes.ts";
import { type Reading, shownMatrices, shownMatrix, stackMatrix } from "../shared/heads/matrices.ts";
import { headContent } from "../shared/heads/words.ts";
import { headIn } from "../shared/layer-view.ts";

export type ShownHeads = ReturnType<typeof shownHeads>;

/**
 * Single heads, or several as one, with their status line and tables.
 *
 * @param combined every head of all layers; missing for those of this layer
 * @param onImage true for the picture, which shows one matrix and no annotated links
 */
export function shownHeads(
  state: State,
  data: Layer,
  axes: Axes,
  reading: Reading,
  combined: Combined | undefined,
  onImage: boolean,
) {
  const { lens } = reading;
  const number = layerNumber(data.info);
  const ofStack = combined && stackMatrix(state, data.stack, combined, axes);
  const all = computed(() => (ofStack ? [ofStack] : shownMatrices(state, data, axes, reading)));
  // With single heads, the matrix is that of the current one.
  const matrix: ReadonlySignal<AttentionMatrix> = computed(() => {
    const [first] = all.value;
    if (first.head === null) return first;
    return shownMatrix(state, data, axes, headIn(state, data), reading);
  });
  const matrices = onImage ? computed(() => [matrix.value]) : all;
  const ofLayers = combined !== undefined || lens.kind === "layers";
  const layerLabel = ofLayers ? "" : `Layer ${number}`;
  const isPlain = isWeights(lens);
  const name = lens.label.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  const detail = ofLayers ? `${name}-${number}` : `layer-${number}${isPlain ? "" : `-${name}`}`;
  const ofLens = isPlain ? data.rounding : matrix.peek().largestRounding;
  return {
    ...headContent(state, { data, axes, layerLabel, matrices, matrix }, !onImage),
    reading,
    /** True if several layers are shown as one. */
    ofLayers,
    /** The largest difference of a number from the record's. */
    rounding: combined?.rounding ?? ofLens,
    /** Their part of the name of a figure's file. */
    detail: combined ? state.combine.value : detail,
  };
}
