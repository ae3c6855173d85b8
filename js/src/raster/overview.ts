/** Pictures of what is not all here are drawn from its overview: a cell stands for many tokens. */

import { matrixSheet, type Sheet } from "../data/attention-matrix.ts";

/** Sheets of cells instead of tokens, with the cells' rows and columns; null where all is here. */
export function overviewOf(sheets: readonly Sheet[]) {
  const overviews = sheets.map(({ overview }) => overview).filter((one) => one !== undefined);
  if (!overviews.length) return null;
  const [{ rows, columns }] = overviews;
  return {
    sheets: overviews.map(({ values }) => matrixSheet("", values, columns)),
    rows: [...Array(rows).keys()],
    columns: [...Array(columns).keys()],
  };
}
