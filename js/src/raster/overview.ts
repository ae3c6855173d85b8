/** Pictures of what is not all here are drawn from its overview: a cell stands for many tokens. */

import { type AttentionMatrix, storedMatrix } from "../data/attention-matrix.ts";

/** Matrices of cells instead of tokens, with the cells' rows and columns; null where all is here. */
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
