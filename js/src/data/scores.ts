/** The score program, evaluated row by row: mirrors `attnwidget/record/scores.py`. */

import type { Program } from "./manifest.ts";

/** Everything that one head's scores follow from. */
export interface HeadProgram {
  readonly program: Program;
  readonly head: number;
  readonly dim: number;
  /** [Tq, dim], row by row. */
  readonly queries: Float32Array;
  /** [Tk, dim], of the key head that this query head uses. */
  readonly keys: Float32Array;
  /** [Tq, Tk], or null. */
  readonly bias: Float32Array | null;
  /** [Tq, Tk], 0 where masked; for an explicit mask only. */
  readonly visible: Float32Array | null;
}

/** What goes into the softmax at query i and key j: -Infinity where the key is masked. */
export function score(head: HeadProgram, i: number, j: number): number {
  const { program, dim, queries, keys } = head;
  const numKeys = keys.length / dim;
  if (!sees(head, i, j, numKeys)) return Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let n = 0, q = i * dim, k = j * dim; n < dim; n++) sum += queries[q + n] * keys[k + n];
  sum *= program.scale;
  if (program.softcap !== null) sum = program.softcap * Math.tanh(sum / program.softcap);
  return head.bias ? sum + head.bias[i * numKeys + j] : sum;
}

function sees(head: HeadProgram, i: number, j: number, numKeys: number): boolean {
  const { mask, window } = head.program;
  if (mask === "causal") return j <= i;
  if (mask === "window" && window) return j >= i - window[0] && j <= i + window[1];
  if (mask === "explicit" && head.visible) return head.visible[i * numKeys + j] !== 0;
  return true;
}

/** Scores of query i over all keys, written into `out`. */
export function scoreRow(head: HeadProgram, i: number, out: Float32Array): Float32Array {
  for (let j = 0; j < out.length; j++) out[j] = score(head, i, j);
  return out;
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
