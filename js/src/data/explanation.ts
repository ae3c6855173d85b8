/**
 * Explains the attention of one query, from q · k to the softmax, or from a walked query to its
 * coefficients, also with muted neurons; and bounds the
 * differences between these numbers and those of the record.
 */

import { largestOf } from "../basics/extremes.ts";
import type { LayerData } from "./layer-data.ts";
import { dot, without } from "./neurons.ts";
import { headScale, logSumExp } from "./scores.ts";

export interface Reading {
  /** q · k; with a recurrence, of the query as it is walked back to each key. */
  readonly dots: Float64Array;
  /** The scores before the softmax; null where they are not recorded. */
  readonly scores: Float32Array | null;
  /** Without a softmax, coefficients. */
  readonly weights: Float32Array;
  /** The weight of the sink, or null. */
  readonly sink: number | null;
}

export interface Explanation {
  readonly query: number;
  /** True for coefficients, of which later keys have none. */
  readonly signed: boolean;
  /** The number with the full bar, or curve: the largest magnitude of coefficients, or 1. */
  readonly peak: number;
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
  const signed = data.info.signed !== undefined;
  const peak = signed ? largestOf(original.weights.map(Math.abs)) || 1 : 1;
  return { query, signed, peak, original, shown, bias: data.biasRow(head, query) };
}

function read(data: LayerData, head: number, query: number, muted: readonly number[]): Reading {
  const dots = new Float64Array(data.numKeys);
  const keys = data.keys(head) as Float32Array;
  const { recurrence } = data.info;
  let q: Float32Array = new Float32Array(0);
  for (let j = 0; j < dots.length; j++) {
    if (!j || recurrence) q = without(data.queryAt(head, query, j) as Float32Array, muted);
    dots[j] = dot(q, keys, j * q.length);
  }
  const scores = data.scoreRow(head, query, muted);
  if (!scores) return { dots, scores, weights: data.weightRow(head, query, muted), sink: null };
  const logit = data.sink(head);
  const normalizer = logSumExp(scores, logit ?? Number.NEGATIVE_INFINITY);
  const weights = scores.map((score) => Math.exp(score - normalizer));
  return { dots, scores, weights, sink: logit === null ? null : Math.exp(logit - normalizer) };
}

/** True if the query can see the key. */
export function sees({ original, signed, query }: Explanation, key: number): boolean {
  if (signed) return key <= query;
  return original.scores
    ? original.scores[key] > Number.NEGATIVE_INFINITY
    : original.weights[key] > 0;
}

export interface ExplanationErrors {
  /** The bound for a component of a query or key. */
  readonly component: number;
  /** The bound for a product of two components. */
  product(q: number, k: number): number;
  /** The bound for q · k, also without muted components. */
  dot(key: number): number;
  /** The bound for a score, also without muted components. */
  readonly score: number;
  /** The bound for a weight; with muted components, for the weight without them. */
  readonly weight: number;
  /** The bound for the weight of the sink. */
  readonly sink: number;
}

/**
 * @param muted true if components are muted. The errors of components are taken for independent, so
 * that those of fewer add up to no more than the largest of all that was measured; but a row's
 * weights may follow the scores more closely.
 */
export function explanationErrors(
  data: LayerData,
  head: number,
  query: number,
  muted: boolean,
): ExplanationErrors {
  const { vectorRounding: component, scoreRounding } = data;
  const { program } = data.info;
  const scale = program && program.softcap === null ? Math.abs(headScale(program, head)) : 0;
  const product = (q: number, k: number) =>
    component * (Math.abs(q) + Math.abs(k)) + component * component;
  // If no score differs by more, the odds of a weight differ by up to exp(2 · this).
  const followed = Math.tanh(scoreRounding / 2);
  return {
    component,
    product,
    dot(key) {
      const [q, k] = [data.query(head, query), data.key(head, key)];
      const sum = q && k ? q.reduce((total, value, n) => total + product(value, k[n]), 0) : 0;
      return scale > 0 ? Math.min(sum, scoreRounding / scale) : sum;
    },
    score: scoreRounding,
    weight: muted && program ? followed : data.rowRounding(head, query),
    sink: followed,
  };
}

/** A bound of the difference of a bias, which is sent in half precision. */
export const biasError = (bias: number) => Math.abs(bias) * 2 ** -11;
