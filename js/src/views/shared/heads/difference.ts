/** Draws numbers of either sign, as a difference of records: both signs as weights of their own. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { largestOf } from "../../../basics/extremes.ts";
import { type AttentionMatrix, isSigned } from "../../../data/attention-matrix.ts";
import type { StackInfo } from "../../../data/manifest.ts";
import { colored, type Phrase, weight } from "../../../parts/text.ts";
import type { Palette } from "../../../styles/palette.ts";

export interface Drawn {
  readonly matrices: ReadonlySignal<readonly AttentionMatrix[]>;
  readonly colors: ReadonlySignal<readonly string[]>;
}

/**
 * The matrices that lines and strips are drawn from: of numbers with a sign, two for each matrix,
 * the numbers above zero first, as shares of the largest magnitude of all.
 */
export function drawnMatrices(
  matrices: ReadonlySignal<readonly AttentionMatrix[]>,
  colors: ReadonlySignal<readonly string[]>,
  palette: ReadonlySignal<Palette>,
): Drawn {
  const signed = computed(() => isSigned(matrices.value[0]));
  return {
    matrices: computed(() => {
      if (!signed.value) return matrices.value;
      const peak = peakOf(matrices.value);
      return matrices.value.flatMap((matrix) => [part(matrix, 1 / peak), part(matrix, -1 / peak)]);
    }),
    colors: computed(() => {
      if (!signed.value) return colors.value;
      const { positive, negative } = palette.value;
      return matrices.value.flatMap(() => [positive, negative]);
    }),
  };
}

/** The largest magnitude of some matrices; 1 if all are zero. */
export const peakOf = (matrices: readonly AttentionMatrix[]): number =>
  largestOf(matrices.map(({ peak = 1 }) => peak)) || 1;

/**
 * The colours of thumbnails of differences, which have one scale, or of scores; nothing for weights.
 *
 * @param scored true if thumbnails are of scores
 */
export function signLegend(
  { difference, layers }: StackInfo,
  { positive, negative }: Palette,
  scored: boolean,
): Phrase {
  if (!difference && !scored) return [];
  const peak = weight(largestOf(layers.flatMap(({ peaks }) => peaks ?? [])));
  const [above, below] = difference ? ["more in B", "less"] : ["above 0", "below"];
  const perHead = difference ? "√|B − A| of scores, per head" : "√|score| per head";
  const what = scored ? perHead : `√|B − A| up to ${peak}`;
  return [
    `   pictures: ${what}, `,
    colored(positive, "■"),
    ` ${above} `,
    colored(negative, "■"),
    ` ${below}`,
  ];
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
