/** The score program, evaluated row by row: mirrors `attnwidget/record/scores.py`. */

import type { Kernels } from "../kernels/kernels.ts";
import type { Program } from "./manifest.ts";

/** Rows of numbers, of which query i reads row i modulo their count. */
export interface Table {
  readonly values: Float32Array;
  /** As many as there are keys, or keys in a block. */
  readonly columns: number;
}

/** Everything that one head's scores follow from. */
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
  /** 0 where masked; for an explicit mask only. */
  readonly visible: Table | null;
}

/**
 * The scores of query i, before the softmax: -Infinity where the key is masked, and after the last key.
 *
 * @param query the vector of query i, or one that stands in for it.
 * @param out longer than there are keys, by four at least.
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
 * @param out longer than there are queries, by four at least.
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
  const one = new Float32Array(1);
  for (let i = 0; i < count; i++) {
    one[0] = out[i];
    applySteps(head, i, j, 1, one);
    out[i] = one[0];
  }
}

/**
 * The program after the scaled products of query i with `count` keys from `from` on. Each step is a
 * loop of its own over the keys that can be seen at all, so that no key is asked what the program has.
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

/** Add the head's biases to what `out` holds of query i, as far as it can see keys at all. */
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

/** The index of query i and key j in a table. The keys after j follow, as far as the block goes. */
function cell({ values, columns }: Table, i: number, j: number): number {
  return (i % (values.length / columns)) * columns + (j % columns);
}

/** From which key up to which one query i can see any at all. */
export function seenBy({ program, dim, keys }: HeadProgram, i: number): [number, number] {
  const count = keys.length / dim;
  const first = Math.min(count, firstKey(program, i));
  return [first, Math.max(first, Math.min(count, endKey(program, i)))];
}

/** The first key that causality, window and blocks let query i see. */
function firstKey({ window, blocks }: Program, i: number): number {
  const own = blocks ? Math.floor(i / blocks[0]) * blocks[1] : 0;
  return window ? Math.max(own, i - window[0]) : own;
}

/** The first key that query i does not see any more. */
function endKey({ mask, window, blocks }: Program, i: number): number {
  const own = blocks ? (Math.floor(i / blocks[0]) + 1) * blocks[1] : Number.POSITIVE_INFINITY;
  if (mask === "causal") return Math.min(own, i + 1);
  return window ? Math.min(own, i + window[1] + 1) : own;
}

/** The factor on this head's dot products. */
export function headScale({ scale }: Pick<Program, "scale">, head: number): number {
  return typeof scale === "number" ? scale : scale[head % scale.length];
}

/** Scores become weights. What a column needs of its rows for the same: their peaks and factors. */
export function softmax(
  kernels: Kernels,
  scores: Float32Array,
  sink: number,
): { readonly peak: number; readonly factor: number } {
  // In the precision that a column gets them in.
  const peak = Math.max(Math.fround(sink), kernels.largest(scores));
  // No key is seen: every weight becomes zero.
  if (peak === Number.NEGATIVE_INFINITY) {
    scores.fill(0);
    return { peak: 0, factor: 1 };
  }
  const factor = Math.fround(1 / (kernels.exponentials(scores, peak) + Math.exp(sink - peak)));
  kernels.multiply(scores, factor);
  return { peak, factor };
}

/** The logarithm of what a row's softmax divides by, the head's sink included. */
export function logSumExp(scores: Float32Array, sink: number): number {
  let peak = sink;
  for (let j = 0; j < scores.length; j++) if (scores[j] > peak) peak = scores[j];
  if (peak === Number.NEGATIVE_INFINITY) return 0; // no key is seen: every weight becomes zero
  let sum = Math.exp(sink - peak);
  for (let j = 0; j < scores.length; j++) sum += Math.exp(scores[j] - peak);
  return peak + Math.log(sum);
}

/** The head's sink logit, or -Infinity. */
export function sinkOf(head: HeadProgram): number {
  return head.program.sinks?.[head.head] ?? Number.NEGATIVE_INFINITY;
}
