/** One layer of a record: the same questions whether it is here as a whole, or comes row by row. */

import type { LayerData } from "./layer-data.ts";
import type { LayerInfo, Side, StackInfo } from "./manifest.ts";

export interface Layer {
  readonly stack: StackInfo;
  readonly info: LayerInfo;
  readonly numQueries: number;
  readonly numKeys: number;
  /** The layer with all of its arrays, for what needs every row; null where rows come one by one. */
  readonly whole: LayerData | null;
  /** The largest difference of a weight from the record's. */
  readonly rounding: number;
  /** How many sampled rows that was measured in; null for all. */
  readonly roundingRows: number | null;
  /** The scores of row i, [keys], before the softmax; null where only weights were recorded. */
  scoreRow(head: number, i: number): Float32Array | null;
  /** The weights of row i, [keys]: how much query i attends to each key. NaN while they are missing. */
  weightRow(head: number, i: number): Float32Array;
  /** The same, in an array that the next call for any row may overwrite. */
  passingRow(head: number, i: number): Float32Array;
  /** The weights of column j, [queries]: how much each query attends to key j. NaN while they are missing. */
  weightColumn(head: number, j: number): Float32Array;
  /** Whether columns can be asked for without holding up the page. Signals read here tell when it changes. */
  hasColumns(head: number): boolean;
  /** What the reader waits for while a row or column is missing, as text; null where it is here. */
  pending(side: Side, position: number): string | null;
  /** A coarse picture of a head, where not all rows are here. `segments` as in `Choices`. */
  overview(head: number, segments: string): Overview | undefined;
}

/** The largest weight in each of a few cells, [rows, columns]. */
export interface Overview {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}
