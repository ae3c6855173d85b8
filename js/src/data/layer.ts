/** A layer of a record, whether it is here as a whole or is fetched row by row; and B − A of two. */

import { MOST_LEVELS, type SignedThumbnail } from "./codec.ts";
import type { LayerData } from "./layer-data.ts";
import { ATTENTION, type LayerInfo, type Side, type StackInfo } from "./manifest.ts";
import { cropped } from "./thumbnails.ts";

export type Layer = RecordLayer | DifferenceLayer;

export interface RecordLayer {
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

/** A layer of a comparison. Its numbers are made of those of its sides, by `differenceMatrix`. */
export class DifferenceLayer {
  /** It has no queries and keys of its own. */
  readonly whole = null;
  readonly numQueries: number;
  readonly numKeys: number;
  readonly rounding: number;
  readonly roundingRows: number | null;

  constructor(
    readonly stack: StackInfo,
    readonly info: LayerInfo,
    /** The layers of A and B. */
    readonly sides: readonly [RecordLayer, RecordLayer],
    private readonly thumbnails: readonly SignedThumbnail[],
  ) {
    const [a, b] = sides;
    this.numQueries = a.numQueries;
    this.numKeys = a.numKeys;
    this.rounding = a.rounding + b.rounding;
    this.roundingRows = a.roundingRows ?? b.roundingRows;
  }

  /** It has none of its own. */
  scoreRow(_head: number, _i: number): null {
    return null;
  }

  pending(side: Side, position: number): string | null {
    const [a, b] = this.sides;
    return a.pending(side, position) ?? b.pending(side, position);
  }

  overview(head: number, segments: string): Overview | undefined {
    if (this.sides.every(({ whole }) => whole)) return undefined;
    const { rows, columns, levels, less } = cropped(this.thumbnails[head], this.stack, segments);
    const peak = this.info.peaks?.[ATTENTION.name]?.[head] ?? 0;
    const values = Float32Array.from(
      levels,
      (level, at) => (less?.[at] ? -1 : 1) * peak * (level / MOST_LEVELS) ** 2,
    );
    return { rows, columns, values };
  }
}

/** A pooled matrix: the largest weight of each cell, [rows, columns]. */
export interface Overview {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}
