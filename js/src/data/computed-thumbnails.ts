/** Thumbnails that do not travel: they are made of numbers that are computed here. */

import type { AttentionMatrix } from "./attention-matrix.ts";
import type { Thumbnail } from "./codec.ts";
import type { StackInfo } from "./manifest.ts";
import { cellsOfTokens } from "./thumbnails.ts";

/** By the number of a layer, the thumbnails of its heads; null for a layer without the lens. */
export type ComputedThumbnails = ReadonlyMap<number, readonly Thumbnail[] | null>;

/** The levels above and below zero, up to the head's largest magnitude. */
const MOST = 15;

/**
 * The number of the largest magnitude in each cell of a thumbnail, by its square root.
 *
 * @param like a thumbnail of this head's size
 */
export function computedThumbnail(
  { row, lens, difference }: AttentionMatrix,
  { queries, keys, sampled }: StackInfo,
  { rows, columns }: Thumbnail,
): Thumbnail {
  const [rowOf, columnOf] = [cellsOfTokens(queries, rows), cellsOfTokens(keys, columns)];
  const cells = new Float32Array(rows * columns);
  const all = queries.labels.length;
  const count = sampled ?? all;
  for (let n = 0; n < count; n++) {
    const query = Math.round((n * (all - 1)) / Math.max(1, count - 1));
    const numbers = row(query, true);
    for (let key = 0; key < numbers.length; key++) {
      const cell = rowOf[query] * columns + columnOf[key];
      // Masked keys have none.
      if (numbers[key] === Number.NEGATIVE_INFINITY) continue;
      if (Math.abs(numbers[key]) > Math.abs(cells[cell])) cells[cell] = numbers[key];
    }
  }
  const peak = cells.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const levels = Uint8Array.from(cells, (value) =>
    Math.round(MOST * Math.sqrt(Math.abs(value) / peak)),
  );
  if (!lens.signed && !difference) return { rows, columns, levels };
  return { rows, columns, levels, less: Uint8Array.from(cells, (value) => Number(value < 0)) };
}
