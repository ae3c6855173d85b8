/** A layer of a comparison: its weights are those of record B less those of A. */

import { MOST_LEVELS, type SignedThumbnail } from "./codec.ts";
import type { Layer, Overview } from "./layer.ts";
import { ATTENTION, type LayerInfo, type Side, type StackInfo } from "./manifest.ts";
import type { Loaded } from "./resource-cache.ts";
import { cropped } from "./thumbnails.ts";

/** Implements `Layer` with B − A in place of weights. */
export class DifferenceLayer implements Layer {
  readonly numQueries: number;
  readonly numKeys: number;
  /** It has no queries and keys of its own. */
  readonly whole = null;
  readonly rounding: number;
  readonly roundingRows: number | null;
  readonly scoreRounding: number;
  readonly largestRounding: number;

  constructor(
    readonly stack: StackInfo,
    readonly info: LayerInfo,
    /** The layers of A and B. */
    readonly sides: readonly [Layer, Layer],
    private readonly thumbnails: readonly SignedThumbnail[],
  ) {
    const [a, b] = sides;
    this.numQueries = a.numQueries;
    this.numKeys = a.numKeys;
    this.scoreRounding = a.scoreRounding + b.scoreRounding;
    this.rounding = a.rounding + b.rounding;
    this.roundingRows = a.roundingRows ?? b.roundingRows;
    this.largestRounding = a.largestRounding + b.largestRounding;
  }

  rowRounding(head: number, i: number): number {
    return this.sides.reduce((sum, side) => sum + side.rowRounding(head, i), 0);
  }

  /** It has none of its own. */
  scoreRow(): null {
    return null;
  }

  weightRow(head: number, i: number): Float32Array {
    const [a, b] = this.sides;
    return subtracted(b.passingRow(head, i), a.passingRow(head, i));
  }

  passingRow(head: number, i: number): Float32Array {
    return this.weightRow(head, i);
  }

  weightColumn(head: number, j: number): Float32Array {
    const [a, b] = this.sides.map((side) => side.weightColumn(head, j));
    return subtracted(b, a);
  }

  hasColumns(head: number): boolean {
    // Asked of both, so that both begin their work.
    return this.sides.map((side) => side.hasColumns(head)).every(Boolean);
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

const subtracted = (b: Float32Array, a: Float32Array): Float32Array =>
  b.map((weight, n) => weight - a[n]);

/** The error of either side, or the results of both. */
export function both<Data, Result>(
  a: Loaded<Data>,
  b: Loaded<Data>,
  join: (a: Data, b: Data) => Result,
): Loaded<Result> {
  if (a.status === "failed") return a;
  if (b.status === "failed") return b;
  if (a.status === "loading") return a;
  if (b.status === "loading") return b;
  return { status: "ready", data: join(a.data, b.data) };
}
