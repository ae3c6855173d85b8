/** Evaluates the score program, row by row: mirrors `attnwidget/record/scores.py`. */

import type { Kernels } from "../kernels/kernels.ts";
import type { Program } from "./manifest.ts";

/** A table of numbers; query i uses row i modulo the number of rows. */
export interface Table {
  readonly values: Float32Array;
  /** The number of keys, or of keys in a block. */
  readonly columns: number;
}

/** Everything that determines the scores of a head. */
export interface HeadProgram {
  readonly program: Program;
  readonly head: number;
  readonly dim: number;
  /** [Tq, dim], row by row. */
  readonly queries: Float32Array;
  /** [Tk, dim], of the key head that this query head uses. */
  readonly keys: Float32Array;
  readonly bias: Table | null;
  /** [Tq + Tk - 1], or null. */
  readonly relative: Float32Array | null;
  /** 0 for masked pairs; null without an explicit mask. */
  readonly visible: Table | null;
}

/**
 * The scores of query i, before the softmax: -Infinity for masked keys, and after the last key.
 *
 * @param query the vector of query i, or a modified one
 * @param out longer than the number of keys by at least four
 */
export function scoreRow(
  kernels: Kernels,
  head: HeadProgram,
  i: number,
  query: Float32Array,
  out: Float32Array,
): void {
  const { program, dim, keys } = head;
  const count = keys.length / dim;
  const [first, end] = seenBy(head, i);
  const scale = headScale(program, head.head);
  kernels.dots(query, keys.subarray(first * dim), end - first, scale, out.subarray(first));
  applySteps(head, i, 0, count, out);
  out.fill(Number.NEGATIVE_INFINITY, count);
}

/**
 * The scores of every query for key j, before the softmax.
 *
 * @param out longer than the number of queries by at least four
 */
export function scoreColumn(
  kernels: Kernels,
  head: HeadProgram,
  j: number,
  out: Float32Array,
): void {
  const { program, dim, queries, keys } = head;
  const count = queries.length / dim;
  const key = keys.subarray(j * dim, (j + 1) * dim);
  kernels.dots(key, queries, count, headScale(program, head.head), out);
  const single = new Float32Array(1);
  for (let i = 0; i < count; i++) {
    single[0] = out[i];
    applySteps(head, i, j, 1, single);
    out[i] = single[0];
  }
}

/**
 * Apply the steps after the scaled products to query i and `count` keys from `from` on. Each step
 * is a loop over the keys that are visible at all, so that no key is tested for every step.
 */
function applySteps(
  head: HeadProgram,
  i: number,
  from: number,
  count: number,
  out: Float32Array,
): void {
  const { program } = head;
  const first = Math.max(from, firstKey(program, i));
  const end = Math.min(from + count, endKey(program, i));
  out.fill(Number.NEGATIVE_INFINITY, 0, Math.min(count, Math.max(0, first - from)));
  out.fill(Number.NEGATIVE_INFINITY, Math.max(0, end - from), count);
  const cap = program.softcap;
  if (cap !== null)
    for (let j = first; j < end; j++) out[j - from] = cap * Math.tanh(out[j - from] / cap);
  addBias(head, i, from, count, out);
  if (head.visible) {
    const { values } = head.visible;
    for (let j = first, at = cell(head.visible, i, j); j < end; j++, at++)
      if (values[at] === 0) out[j - from] = Number.NEGATIVE_INFINITY;
  }
}

/** Add the head's biases to the scores of query i. */
export function addBias(
  head: HeadProgram,
  i: number,
  from: number,
  count: number,
  out: Float32Array,
): void {
  const { program, dim, queries, relative } = head;
  const first = Math.max(from, firstKey(program, i));
  const end = Math.min(from + count, endKey(program, i));
  if (head.bias) {
    const { values } = head.bias;
    for (let j = first, at = cell(head.bias, i, j); j < end; j++, at++) out[j - from] += values[at];
  }
  if (relative) {
    const zero = queries.length / dim - 1 - i;
    for (let j = first; j < end; j++) out[j - from] += relative[zero + j];
  }
}

/** The index of query i and key j in a table, followed by the keys after j in the block. */
function cell({ values, columns }: Table, i: number, j: number): number {
  return (i % (values.length / columns)) * columns + (j % columns);
}

/** The range of keys that query i may see. */
export function seenBy({ program, dim, keys }: HeadProgram, i: number): [number, number] {
  const count = keys.length / dim;
  const first = Math.min(count, firstKey(program, i));
  return [first, Math.max(first, Math.min(count, endKey(program, i)))];
}

/** The first key that window and blocks let query i see. */
function firstKey({ window, blocks }: Program, i: number): number {
  const blockStart = blocks ? Math.floor(i / blocks[0]) * blocks[1] : 0;
  return window ? Math.max(blockStart, i - window[0]) : blockStart;
}

/** The key after the last that query i may see. */
function endKey({ mask, window, blocks }: Program, i: number): number {
  const blockEnd = blocks ? (Math.floor(i / blocks[0]) + 1) * blocks[1] : Number.POSITIVE_INFINITY;
  if (mask === "causal") return Math.min(blockEnd, i + 1);
  return window ? Math.min(blockEnd, i + window[1] + 1) : blockEnd;
}

/** The scale of this head's dot products. */
export function headScale({ scale }: Pick<Program, "scale">, head: number): number {
  return typeof scale === "number" ? scale : scale[head % scale.length];
}

/** Replace scores with weights. Returns the peak and the factor, for columns to repeat it. */
export function softmax(
  kernels: Kernels,
  scores: Float32Array,
  sink: number,
): { readonly peak: number; readonly factor: number } {
  // In float32, as columns use it.
  const peak = Math.max(Math.fround(sink), kernels.largest(scores));
  // No key is visible: every weight is zero.
  if (peak === Number.NEGATIVE_INFINITY) {
    scores.fill(0);
    return { peak: 0, factor: 1 };
  }
  const factor = Math.fround(1 / (kernels.exponentials(scores, peak) + Math.exp(sink - peak)));
  kernels.multiply(scores, factor);
  return { peak, factor };
}

/** The logarithm of a row's softmax normalizer, including the head's sink. */
export function logSumExp(scores: Float32Array, sink: number): number {
  let peak = sink;
  for (let j = 0; j < scores.length; j++) if (scores[j] > peak) peak = scores[j];
  if (peak === Number.NEGATIVE_INFINITY) return 0; // no key is seen: every weight becomes zero
  let sum = Math.exp(sink - peak);
  for (let j = 0; j < scores.length; j++) sum += Math.exp(scores[j] - peak);
  return peak + Math.log(sum);
}

export function sinkOf(head: HeadProgram): number {
  return head.program.sinks?.[head.head] ?? Number.NEGATIVE_INFINITY;
}
