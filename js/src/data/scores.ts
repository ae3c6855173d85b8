/** The score program, evaluated row by row: mirrors `attnwidget/record/scores.py`. */

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
 * What goes into the softmax of query i, for the keys from `from` on as far as `out` reaches:
 * -Infinity where the key is masked. Each step of the program is a loop of its own over the keys that
 * can be seen at all, so that no key is asked what the program has.
 *
 * @param query the vector of query i, or one that stands in for it.
 */
export function scores(
  head: HeadProgram,
  i: number,
  from: number,
  out: Float32Array,
  query = head.queries.subarray(i * head.dim, (i + 1) * head.dim),
): void {
  const { program, dim, keys } = head;
  const first = Math.max(from, firstKey(program, i));
  const end = Math.min(from + out.length, endKey(program, i));
  out.fill(Number.NEGATIVE_INFINITY);
  const scale = headScale(program, head.head);
  for (let j = first; j < end; j++) {
    let sum = 0;
    for (let n = 0, k = j * dim; n < dim; n++) sum += query[n] * keys[k + n];
    out[j - from] = sum * scale;
  }
  const cap = program.softcap;
  if (cap !== null)
    for (let j = first; j < end; j++) out[j - from] = cap * Math.tanh(out[j - from] / cap);
  addBias(head, i, from, out);
  if (head.visible) {
    const { values } = head.visible;
    for (let j = first, at = cell(head.visible, i, j); j < end; j++, at++)
      if (values[at] === 0) out[j - from] = Number.NEGATIVE_INFINITY;
  }
}

/** Add the head's biases to what `out` holds of query i, as far as it can see keys at all. */
export function addBias(head: HeadProgram, i: number, from: number, out: Float32Array): void {
  const { program, dim, queries, relative } = head;
  const first = Math.max(from, firstKey(program, i));
  const end = Math.min(from + out.length, endKey(program, i));
  if (head.bias) {
    const { values } = head.bias;
    for (let j = first, at = cell(head.bias, i, j); j < end; j++, at++) out[j - from] += values[at];
  }
  if (relative) {
    const zero = queries.length / dim - 1 - i;
    for (let j = first; j < end; j++) out[j - from] += relative[zero + j];
  }
}

/** Where a table has query i and key j. The keys after j follow, as far as the block goes. */
function cell({ values, columns }: Table, i: number, j: number): number {
  return (i % (values.length / columns)) * columns + (j % columns);
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
