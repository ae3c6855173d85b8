/** A layer that is too large to be here as a whole: its rows and columns are fetched one by one. */

import type { ReadonlySignal } from "@preact/signals-core";
import { type Arrays, bytesIn } from "./arrays.ts";
import { checkParts, rowShapes } from "./check-block.ts";
import { type Block, decodeBlock } from "./codec.ts";
import { ATTENTION, type LayerInfo, type Side, type StackInfo } from "./manifest.ts";
import type { Loaded, ResourceCache } from "./resource-cache.ts";
import { logSumExp } from "./scores.ts";
import { cropped, type Pooled, type Thumbnail } from "./thumbnails.ts";

/**
 * Fetches the row of a query for every head: "scores" [heads, keys], or "weights" without a score
 * program; or the column of a key: "weights" [heads, queries]. Without a softmax, both are
 * "coefficients".
 */
export type Rows = (side: Side, position: number, signal: AbortSignal) => Promise<Block>;

export type RowCache = ResourceCache<Arrays>;

/**
 * Has what `LayerData` has. Numbers that have not arrived are NaN. They are fetched while a `computed` or an `effect` depends
 * on them, which runs again when they arrive.
 */
export class RemoteLayer {
  readonly numQueries: number;
  readonly numKeys: number;

  /** @param thumbnails of every head, for the overview */
  constructor(
    readonly stack: StackInfo,
    readonly info: LayerInfo,
    private readonly thumbnails: readonly Thumbnail[],
    private readonly rows: Rows,
    private readonly cache: RowCache,
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
    const { value } = this.#row(side, position);
    if (value.status === "ready") return null;
    if (value.status === "failed") return value.message;
    // A weight in a column needs the normalizer of its row.
    const first = side === "key" && this.info.program ? ", which computes every row once" : "";
    return `waiting for the kernel${first} …`;
  }

  scoreRow(head: number, i: number): Float32Array | null {
    return this.info.program && this.#part("query", i, "scores", head, this.numKeys);
  }

  weightRow(head: number, i: number): Float32Array {
    if (!this.info.program) return this.#part("query", i, keptName(this.info), head, this.numKeys);
    return softmax(this.info, head, this.#part("query", i, "scores", head, this.numKeys));
  }

  passingRow(head: number, i: number): Float32Array {
    return this.weightRow(head, i);
  }

  weightColumn(head: number, j: number): Float32Array {
    return this.#part("key", j, keptName(this.info), head, this.numQueries);
  }

  hasColumns(): boolean {
    return true;
  }

  overview(head: number, segments: string): Pooled {
    const { rows, columns, levels, less } = cropped(this.thumbnails[head], this.stack, segments);
    const peak = this.info.signed ? (this.info.peaks?.[ATTENTION.name]?.[head] ?? 1) : 1;
    // A level is proportional to the square root of the magnitude.
    const values = Float32Array.from(
      levels,
      (level, at) => (less?.[at] ? -peak : peak) * (level / 15) ** 2,
    );
    return { rows, columns, values };
  }

  #row(side: Side, position: number): ReadonlySignal<Loaded<Arrays>> {
    const key = `${this.stack.name}.${this.info.number} ${side} ${position}`;
    return this.cache.get(key, async (signal) => {
      const data = readRow(this.stack, this.info, side, await this.rows(side, position, signal));
      return { data, bytes: bytesIn(data) };
    });
  }

  #part(side: Side, position: number, name: string, head: number, size: number): Float32Array {
    const { value } = this.#row(side, position);
    if (value.status !== "ready") return new Float32Array(size).fill(Number.NaN);
    return partOf(value.data, this.info, name, head, size);
  }
}

/** Fetch the weights of a query in every head. */
export async function fetchWeights(
  stack: StackInfo,
  info: LayerInfo,
  rows: Rows,
  query: number,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const row = readRow(stack, info, "query", await rows("query", query, signal));
  const name = info.program ? "scores" : keptName(info);
  return Array.from({ length: info.heads }, (_, head) => {
    const part = partOf(row, info, name, head, stack.keys.labels.length);
    return info.program ? softmax(info, head, part) : part;
  });
}

const keptName = ({ signed }: LayerInfo) => (signed ? "coefficients" : "weights");

function readRow(stack: StackInfo, info: LayerInfo, side: Side, block: Block): Arrays {
  checkParts(block.parts, block.error, () => rowShapes(stack, info, side));
  return decodeBlock(block);
}

function partOf(row: Arrays, info: LayerInfo, name: string, head: number, size: number) {
  const array = row.get(name);
  if (array?.values.length !== size * info.heads) throw new Error(`This row has no ${name}.`);
  return array.values.subarray(head * size, (head + 1) * size);
}

function softmax(info: LayerInfo, head: number, scores: Float32Array): Float32Array {
  const normalizer = logSumExp(scores, info.program?.sinks?.[head] ?? Number.NEGATIVE_INFINITY);
  return scores.map((score) => Math.exp(score - normalizer));
}
