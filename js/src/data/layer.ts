/** The interface of a layer, whether it is here as a whole or is fetched row by row. */

import type { LayerData } from "./layer-data.ts";
import type { LayerInfo, Side, StackInfo } from "./manifest.ts";

export interface Layer {
  readonly stack: StackInfo;
  readonly info: LayerInfo;
  readonly numQueries: number;
  readonly numKeys: number;
  /** The layer with all of its arrays; null if rows are fetched one by one. */
  readonly whole: LayerData | null;
  /** The largest difference of a weight from the record's. */
  readonly rounding: number;
  /** The number of sampled rows that `rounding` was measured in; null if in all. */
  readonly roundingRows: number | null;
  /** A bound of the differences of scores. */
  readonly scoreRounding: number;
  /** A bound of the differences of all weights. */
  readonly largestRounding: number;
  /** A bound of the differences of the weights in row i. */
  rowRounding(head: number, i: number): number;
  /** The scores of row i, [keys], before the softmax; null where only weights were recorded. */
  scoreRow(head: number, i: number): Float32Array | null;
  /** The weights of row i, [keys]: how much query i attends to each key. NaN if missing. */
  weightRow(head: number, i: number): Float32Array;
  /** The same in an array that the next call for any row may overwrite. */
  passingRow(head: number, i: number): Float32Array;
  /** The weights of column j, [queries]: how much each query attends to key j. NaN if missing. */
  weightColumn(head: number, j: number): Float32Array;
  /** True if columns can be had without a delay; a signal, which changes when they can. */
  hasColumns(head: number): boolean;
  /** The text to show while a row or column is missing; null if it is here. */
  pending(side: Side, position: number): string | null;
  /** The pooled matrix of a head, if not all rows are here. `segments` as in `Choices`. */
  overview(head: number, segments: string): Overview | undefined;
}

/** A pooled matrix: the largest weight of each cell, [rows, columns]. */
export interface Overview {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}
