/** The overviews of layers that are fetched row by row, to draw in place of the matrices. */

import { type AttentionMatrix, storedMatrix } from "../data/attention-matrix.ts";

/** Matrices of cells instead of tokens, with their rows and columns; null if all is here. */
export function overviewOf(matrices: readonly AttentionMatrix[]) {
  const overviews = matrices.map(({ overview }) => overview).filter((one) => one !== undefined);
  if (!overviews.length) return null;
  const [{ rows, columns }] = overviews;
  return {
    matrices: overviews.map(({ values }) => storedMatrix("", values, columns)),
    rows: [...Array(rows).keys()],
    columns: [...Array(columns).keys()],
  };
}
