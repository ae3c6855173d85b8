/** Explains the attention of one query, from q · k to the softmax, also with muted neurons. */

import type { LayerData } from "./layer-data.ts";
import { dot, without } from "./neurons.ts";
import { logSumExp } from "./scores.ts";

export interface Reading {
  /** q · k. */
  readonly dots: Float64Array;
  /** The scores before the softmax; null where they are not recorded. */
  readonly scores: Float32Array | null;
  readonly weights: Float32Array;
  /** The weight of the sink, or null. */
  readonly sink: number | null;
}

export interface Explanation {
  readonly query: number;
  readonly original: Reading;
  /** Without the muted neurons; the same object as `original` if there are none. */
  readonly shown: Reading;
  /** The bias added to the scaled products, or null. */
  readonly bias: Float32Array | null;
}

/** @param muted components left out of q · k; weights without a score program stay as recorded */
export function explain(
  data: LayerData,
  head: number,
  query: number,
  muted: readonly number[],
): Explanation {
  const original = read(data, head, query, []);
  const shown = muted.length ? read(data, head, query, muted) : original;
  return { query, original, shown, bias: data.biasRow(head, query) };
}

function read(data: LayerData, head: number, query: number, muted: readonly number[]): Reading {
  const q = without(data.query(head, query) as Float32Array, muted);
  const dots = new Float64Array(data.numKeys);
  const keys = data.keys(head) as Float32Array;
  for (let j = 0; j < dots.length; j++) dots[j] = dot(q, keys, j * q.length);
  const scores = data.scoreRow(head, query, muted);
  if (!scores) return { dots, scores, weights: data.weightRow(head, query), sink: null };
  const logit = data.sink(head);
  const normalizer = logSumExp(scores, logit ?? Number.NEGATIVE_INFINITY);
  const weights = scores.map((score) => Math.exp(score - normalizer));
  return { dots, scores, weights, sink: logit === null ? null : Math.exp(logit - normalizer) };
}

/** True if the query can see the key. */
export function sees({ original }: Explanation, key: number): boolean {
  return original.scores
    ? original.scores[key] > Number.NEGATIVE_INFINITY
    : original.weights[key] > 0;
}
