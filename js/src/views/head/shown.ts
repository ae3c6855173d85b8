/** The matrices that the head view shows, and what they are called. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import type { Combined } from "../../data/combine.ts";
import type { Layer } from "../../data/layer.ts";
import { isAttention } from "../../state/lens.ts";
import type { State } from "../../state/state.ts";
import type { Axes } from "../shared/axes.ts";
import { type Reading, shownMatrices, shownMatrix, stackMatrix } from "../shared/heads/matrices.ts";
import { headIn } from "../shared/layer-view.ts";

export type ShownHeads = ReturnType<typeof shownHeads>;

/**
 * Single heads, or several as one.
 *
 * @param combined every head of all layers; missing for those of this layer
 */
export function shownHeads(
  state: State,
  data: Layer,
  axes: Axes,
  reading: Reading,
  combined: Combined | undefined,
) {
  const { lens } = reading;
  const { number } = data.info;
  const ofStack = combined && stackMatrix(state, data.stack, combined, axes);
  const matrices = computed(() =>
    ofStack ? [ofStack] : shownMatrices(state, data, axes, reading),
  );
  // With single heads, the matrix is that of the current one.
  const matrix: ReadonlySignal<AttentionMatrix> = computed(() => {
    const [first] = matrices.value;
    return first.head === null
      ? first
      : shownMatrix(state, data, axes, headIn(state, data), reading);
  });
  const ofLayers = combined !== undefined || lens.kind === "layers";
  const isPlain = isAttention(lens);
  const name = lens.label.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  const detail = ofLayers ? `${name}-${number}` : `layer-${number}${isPlain ? "" : `-${name}`}`;
  const ofLens = isPlain ? data.rounding : matrix.peek().largestRounding;
  return {
    data,
    axes,
    reading,
    matrices,
    matrix,
    /** True if several layers are shown as one. */
    ofLayers,
    /** "Layer 2", or "" if all layers are combined. */
    layerLabel: ofLayers ? "" : `Layer ${number}`,
    /** The largest difference of a number from the record's. */
    rounding: combined?.rounding ?? ofLens,
    /** Their part of the name of a figure's file. */
    detail: combined ? state.combine.value : detail,
  };
}
