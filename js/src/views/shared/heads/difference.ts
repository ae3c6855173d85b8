/** Draws numbers with a scale of their own as weights: of either sign, both signs apart; and their colours. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { largestOf } from "../../../basics/extremes.ts";
import { type AttentionMatrix, isSigned } from "../../../data/attention-matrix.ts";
import { headColors } from "../../../styles/head-colors.ts";
import type { Palette } from "../../../styles/palette.ts";

/**
 * The matrices that lines and strips are drawn from, as shares of the largest magnitude of all where
 * numbers have a scale; of numbers with a sign, two for each matrix, those above zero first. Their
 * colours are those of signs, or of heads.
 *
 * @param heads the number of heads of the layer
 */
export function drawnMatrices(
  matrices: ReadonlySignal<readonly AttentionMatrix[]>,
  heads: number,
  palette: ReadonlySignal<Palette>,
) {
  const signed = computed(() => isSigned(matrices.value[0]));
  return {
    matrices: computed(() => {
      if (!signed.value && matrices.value[0].peak === undefined) return matrices.value;
      const peak = largestOf(matrices.value.map((matrix) => matrix.peak ?? 1)) || 1;
      if (!signed.value) {
        return matrices.value.map((matrix) => ({ ...part(matrix, 1 / peak), head: matrix.head }));
      }
      return matrices.value.flatMap((matrix) => [part(matrix, 1 / peak), part(matrix, -1 / peak)]);
    }),
    colors: computed(() => {
      const { positive, negative, ink, dark } = palette.value;
      if (signed.value) return matrices.value.flatMap(() => [positive, negative]);
      const byHead = headColors(heads, dark);
      return matrices.value.map(({ head }) => (head === null ? ink : byHead[head]));
    }),
  };
}

/** The numbers of one sign, times a factor. */
function part(matrix: AttentionMatrix, factor: number): AttentionMatrix {
  const of = (values: Float32Array) =>
    values.map((value) =>
      value === Number.NEGATIVE_INFINITY ? 0 : Math.min(1, Math.max(0, value * factor)),
    );
  const { overview } = matrix;
  return {
    ...matrix,
    head: null,
    // The worker would draw the numbers of both signs.
    source: null,
    overview: overview && { ...overview, values: of(overview.values) },
    row: (query, passing) => of(matrix.row(query, passing)),
    column: (key) => of(matrix.column(key)),
  };
}
