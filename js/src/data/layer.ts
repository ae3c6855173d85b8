/** A layer of a record, whether it is here as a whole or is fetched row by row; and B − A of two. */

import type { LayerData } from "./layer-data.ts";
import { ATTENTION, type LayerInfo, type Side, type StackInfo } from "./manifest.ts";
import type { RemoteLayer } from "./remote-layer.ts";
import { MOST_SIGNED, type Pooled, pooled, type Thumbnail } from "./thumbnails.ts";

export type RecordLayer = LayerData | RemoteLayer;
export type Layer = RecordLayer | DifferenceLayer;

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
    private readonly thumbnailOf: (head: number) => Thumbnail,
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

  overview(head: number, segments: string): Pooled | undefined {
    if (this.sides.every(({ whole }) => whole)) return undefined;
    const peak = this.info.peaks?.[ATTENTION.name]?.[head] ?? 0;
    return pooled(this.thumbnailOf(head), this.stack, segments, peak, MOST_SIGNED);
  }
}
