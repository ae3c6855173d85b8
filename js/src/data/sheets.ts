/** A matrix of weights as it is shown: of one head, of several combined, between tokens or words. */

import type { LayerData } from "./layer.ts";
import type { Units } from "./units.ts";

export interface Sheet {
  readonly name: string;
  /** Which head's colour it has; null where it is of several. */
  readonly head: number | null;
  /** How much a query attends to each key. */
  row(query: number): Float32Array;
  /** How much each query attends to a key. */
  column(key: number): Float32Array;
  /** All of it, row by row. */
  matrix(): Float32Array;
}

export const headSheet = (data: LayerData, head: number): Sheet => ({
  name: `Head ${head}`,
  head,
  row: (query) => data.weightRow(head, query),
  column: (key) => data.weightColumn(head, key),
  matrix: () => data.matrix(head),
});

/** @param values [queries, keys], row by row. */
export const matrixSheet = (name: string, values: Float32Array, keys: number): Sheet => ({
  name,
  head: null,
  row: (query) => values.subarray(query * keys, (query + 1) * keys),
  column: (key) => values.filter((_, at) => at % keys === key),
  matrix: () => values,
});

/** The mean or the largest of several, cell by cell. */
export function combinedSheet(name: string, sheets: readonly Sheet[], how: "mean" | "max"): Sheet {
  const fold = (parts: readonly Float32Array[]): Float32Array => {
    const out = parts[0].slice();
    for (const part of parts.slice(1)) {
      for (let n = 0; n < out.length; n++) {
        out[n] = how === "mean" ? out[n] + part[n] : Math.max(out[n], part[n]);
      }
    }
    return how === "mean" ? out.map((sum) => sum / parts.length) : out;
  };
  return {
    name,
    head: null,
    row: (query) => fold(sheets.map((sheet) => sheet.row(query))),
    column: (key) => fold(sheets.map((sheet) => sheet.column(key))),
    matrix: () => fold(sheets.map((sheet) => sheet.matrix())),
  };
}

/**
 * Between words instead of tokens, after Clark et al. 2019 (section 4.1): attention to a word is the
 * sum over its tokens, and attention from a word the mean over its tokens. Of a sheet that is itself a
 * maximum, the largest of all of them.
 */
export function wordSheet(
  sheet: Sheet,
  queries: Units,
  keys: Units,
  how: "attention" | "largest" = "attention",
): Sheet {
  const from = (rows: readonly Float32Array[]) => join(rows, how === "largest" ? most : mean);
  const to = (row: Float32Array) =>
    Float32Array.from(keys.tokens, (tokens) => {
      const parts = tokens.map((key) => row[key]);
      return how === "largest" ? most(parts) : sum(parts);
    });
  const row = (query: number) =>
    to(from(queries.tokens[query].map((position) => sheet.row(position))));
  return {
    name: sheet.name,
    head: sheet.head,
    row,
    column(key) {
      const columns = keys.tokens[key].map((position) => sheet.column(position));
      const total = join(columns, how === "largest" ? most : sum);
      return Float32Array.from(queries.tokens, (tokens) => {
        const parts = tokens.map((query) => total[query]);
        return how === "largest" ? most(parts) : mean(parts);
      });
    },
    matrix() {
      const out = new Float32Array(queries.tokens.length * keys.tokens.length);
      queries.tokens.forEach((_, query) => {
        out.set(row(query), query * keys.tokens.length);
      });
      return out;
    },
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;
const most = (values: readonly number[]) => Math.max(...values);

function join(rows: readonly Float32Array[], how: (values: readonly number[]) => number) {
  return rows.length === 1 ? rows[0] : rows[0].map((_, n) => how(rows.map((row) => row[n])));
}
