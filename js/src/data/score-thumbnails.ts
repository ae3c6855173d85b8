/** Thumbnails of scores, which do not travel: they are computed from queries and keys. */

import type { SignedThumbnail, Thumbnail } from "./codec.ts";
import type { Layer } from "./layer.ts";
import { cellsOfTokens } from "./thumbnails.ts";

/** By the number of a layer, the thumbnails of its heads; null for a layer without scores. */
export type ScoreThumbnails = ReadonlyMap<number, readonly SignedThumbnail[] | null>;

/** The levels above and below zero, up to the head's largest |score|. */
const MOST = 15;

/**
 * The score of the largest magnitude in each cell of a thumbnail, by its square root.
 *
 * @param like a thumbnail of this head's size
 */
export function scoreThumbnail(layer: Layer, head: number, like: Thumbnail): SignedThumbnail {
  const { rows, columns } = like;
  const { queries, keys, sampled } = layer.stack;
  const [rowOf, columnOf] = [cellsOfTokens(queries, rows), cellsOfTokens(keys, columns)];
  const cells = new Float32Array(rows * columns);
  const count = sampled ?? layer.numQueries;
  for (let n = 0; n < count; n++) {
    const query = Math.round((n * (layer.numQueries - 1)) / Math.max(1, count - 1));
    const scores = layer.scoreRow(head, query) ?? [];
    for (let key = 0; key < scores.length; key++) {
      const cell = rowOf[query] * columns + columnOf[key];
      // Masked keys have none.
      if (scores[key] === Number.NEGATIVE_INFINITY) continue;
      if (Math.abs(scores[key]) > Math.abs(cells[cell])) cells[cell] = scores[key];
    }
  }
  const peak = cells.reduce((most, score) => Math.max(most, Math.abs(score)), 0) || 1;
  return {
    rows,
    columns,
    levels: Uint8Array.from(cells, (score) => Math.round(MOST * Math.sqrt(Math.abs(score) / peak))),
    less: Uint8Array.from(cells, (score) => Number(score < 0)),
  };
}
