/** Draws the difference of two records: what is more in B, and what is less, as weights of their own. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../../data/attention-matrix.ts";
import { largestOf } from "../../../data/extremes.ts";
import type { StackInfo } from "../../../data/manifest.ts";
import { colored, type Phrase, weight } from "../../../parts/text.ts";
import type { Palette } from "../../../styles/palette.ts";

export interface Drawn {
  readonly matrices: ReadonlySignal<readonly AttentionMatrix[]>;
  readonly colors: ReadonlySignal<readonly string[]>;
}

/**
 * The matrices that lines and strips are drawn from: of a difference, two for each matrix, more in
 * B first, as shares of the largest |B − A| of all.
 */
export function drawnMatrices(
  matrices: ReadonlySignal<readonly AttentionMatrix[]>,
  colors: ReadonlySignal<readonly string[]>,
  palette: ReadonlySignal<Palette>,
): Drawn {
  const signed = computed(() => matrices.value[0].measure === "difference");
  return {
    matrices: computed(() => {
      if (!signed.value) return matrices.value;
      const peak = peakOf(matrices.value);
      return matrices.value.flatMap((matrix) => [
        part(matrix, "more in B", 1 / peak),
        part(matrix, "less in B", -1 / peak),
      ]);
    }),
    colors: computed(() => {
      if (!signed.value) return colors.value;
      const { positive, negative } = palette.value;
      return matrices.value.flatMap(() => [positive, negative]);
    }),
  };
}

/** The largest |B − A| of some matrices; 1 if all are zero. */
export const peakOf = (matrices: readonly AttentionMatrix[]): number =>
  largestOf(matrices.map(({ peak = 1 }) => peak)) || 1;

/** The colours of thumbnails of differences, which have one scale; nothing for a record's own. */
export function differenceLegend({ difference, layers }: StackInfo, palette: Palette): Phrase {
  if (!difference) return [];
  const peak = weight(largestOf(layers.flatMap(({ peaks }) => peaks ?? [])));
  return [
    "   pictures: √|B − A| up to ",
    `${peak}, `,
    colored(palette.positive, "■"),
    " more in B ",
    colored(palette.negative, "■"),
    " less",
  ];
}

/** The numbers of one sign, times a factor. */
function part(matrix: AttentionMatrix, name: string, factor: number): AttentionMatrix {
  const of = (values: Float32Array) => values.map((value) => Math.max(0, value * factor));
  const { overview } = matrix;
  return {
    ...matrix,
    name,
    head: null,
    overview: overview && { ...overview, values: of(overview.values) },
    row: (query, passing) => of(matrix.row(query, passing)),
    column: (key) => of(matrix.column(key)),
  };
}
