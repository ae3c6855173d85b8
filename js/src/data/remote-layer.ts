/** A layer that is too large to be here as a whole: its rows and columns are fetched one by one. */

import { checked, rowShapes } from "./check-block.ts";
import type { Block } from "./codec.ts";
import { ATTENTION, type LayerInfo, type Side, type StackInfo } from "./manifest.ts";
import type { Loaded, ResourceCache } from "./resource-cache.ts";
import { logSumExp } from "./scores.ts";
import { type Pooled, pooled, type Thumbnail } from "./thumbnails.ts";

/**
 * Fetches the row of a query for every head: "scores" [heads, keys], or "weights" without a score
 * program; or the column of a key: "weights" [heads, queries]. Without a softmax, both are
 * "coefficients".
 */
export type Rows = (side: Side, position: number, signal: AbortSignal) => Promise<Block>;

/**
 * Has what `LayerData` has. Numbers that have not arrived are NaN. They are fetched while a `computed` or an `effect` depends
 * on them, which runs again when they arrive.
 */
export class RemoteLayer {
  readonly numQueries: number;
  readonly numKeys: number;

  /** @param thumbnailOf returns the thumbnail of a head, for the overview */
  constructor(
    readonly stack: StackInfo,
    readonly info: LayerInfo,
    private readonly thumbnailOf: (head: number) => Thumbnail,
    private readonly rows: Rows,
    private readonly cache: ResourceCache,
  ) {
    this.numQueries = stack.queries.labels.length;
    this.numKeys = stack.keys.labels.length;
  }

  /** The kernel computes from the record's own numbers and sends them unrounded. */
  readonly whole = null;
  readonly rounding = 0;
  readonly roundingRows = null;
  readonly scoreRounding = 0;
  readonly largestRounding = 0;

  rowRounding(): number {
    return 0;
  }

  pending(side: Side, position: number): string | null {
    const row = this.#row(side, position);
    if (row.status === "ready") return null;
    if (row.status === "failed") return row.message;
    // A weight in a column needs the normalizer of its row.
    const first = side === "key" && this.info.program ? ", which computes every row once" : "";
    return `waiting for the kernel${first} …`;
  }

  scoreRow(head: number, i: number): Float32Array | null {
    const { program } = this.info;
    return program && this.#part(this.#row("query", i), head, this.numKeys);
  }

  weightRow(head: number, i: number): Float32Array {
    return this.#weights(this.#row("query", i), head);
  }

  passingRow(head: number, i: number): Float32Array {
    return this.weightRow(head, i);
  }

  weightColumn(head: number, j: number): Float32Array {
    return this.#part(this.#row("key", j), head, this.numQueries);
  }

  /** The weights of a query in every head, asked for at once. */
  async weights(query: number, signal: AbortSignal): Promise<Float32Array[]> {
    const data = await this.#fetch("query", query, signal);
    const row = { status: "ready", data } as const;
    return Array.from({ length: this.info.heads }, (_, head) => this.#weights(row, head));
  }

  hasColumns(): boolean {
    return true;
  }

  overview(head: number, segments: string): Pooled {
    const peak = this.info.signed ? (this.info.peaks?.[ATTENTION.name]?.[head] ?? 1) : 1;
    return pooled(this.thumbnailOf(head), this.stack, segments, peak);
  }

  #row(side: Side, position: number): Loaded<Float32Array> {
    const key = `${this.stack.name}.${this.info.number} ${side} ${position}`;
    return this.cache.get(key, async (signal) => {
      const data = await this.#fetch(side, position, signal);
      return { data, bytes: data.byteLength };
    }).value;
  }

  async #fetch(side: Side, position: number, signal: AbortSignal): Promise<Float32Array> {
    const { stack, info } = this;
    const sent = await this.rows(side, position, signal);
    const arrays = await checked(sent, () => rowShapes(stack, info, side));
    const [{ values }] = arrays.values(); // rowShapes has one name
    return values;
  }

  /** The numbers of a head among those of a row or column. */
  #part(row: Loaded<Float32Array>, head: number, size: number): Float32Array {
    if (row.status !== "ready") return new Float32Array(size).fill(Number.NaN);
    return row.data.subarray(head * size, (head + 1) * size);
  }

  #weights(row: Loaded<Float32Array>, head: number): Float32Array {
    const part = this.#part(row, head, this.numKeys);
    const { program } = this.info;
    if (!program) return part;
    const normalizer = logSumExp(part, program.sinks?.[head] ?? Number.NEGATIVE_INFINITY);
    return part.map((score) => Math.exp(score - normalizer));
  }
}
