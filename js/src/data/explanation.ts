/**
 * Explains the attention of one query, from q · k to the softmax, or from a walked query to its
 * coefficients, also with muted neurons; and bounds the
 * differences between these numbers and those of the record.
 */

import { largestOf } from "../basics/extremes.ts";
import type { LayerData } from "./layer-data.ts";
import { dot, without } from "./neurons.ts";
import { headScale, logSumExp } from "./scores.ts";

export type Explanation = ReturnType<typeof explain>;

/** @param muted components left out of q · k; weights without a score program stay as recorded */
export function explain(data: LayerData, head: number, query: number, muted: readonly number[]) {
  const original = read(data, head, query, []);
  /** True for coefficients, of which later keys have none. */
  const signed = data.info.signed !== undefined;
  return {
    query,
    signed,
    /** The number with the full bar, or curve: the largest magnitude of coefficients, or 1. */
    peak: signed ? largestOf(original.weights.map(Math.abs)) || 1 : 1,
    original,
    /** Without the muted neurons; the same object as `original` if there are none. */
    shown: muted.length ? read(data, head, query, muted) : original,
    /** The bias added to the scaled products, or null. */
    bias: data.biasRow(head, query),
  };
}

export type Reading = ReturnType<typeof read>;

function read(data: LayerData, head: number, query: number, muted: readonly number[]) {
  /** q · k; with a recurrence, of the query as it is walked back to each key. */
  const dots = new Float64Array(data.numKeys);
  const keys = data.keys(head) as Float32Array;
  const { recurrence } = data.info;
  let q: Float32Array = new Float32Array(0);
  for (let j = 0; j < dots.length; j++) {
    if (!j || recurrence) q = without(data.queryAt(head, query, j) as Float32Array, muted);
    dots[j] = dot(q, keys, j * q.length);
  }
  /** The scores before the softmax; null where they are not recorded. */
  const scores = data.scoreRow(head, query, muted);
  const logit = data.sink(head);
  const normalizer = scores && logSumExp(scores, logit ?? Number.NEGATIVE_INFINITY);
  return {
    dots,
    scores,
    /** Without a softmax, coefficients. */
    weights:
      scores && normalizer !== null
        ? scores.map((score) => Math.exp(score - normalizer))
        : data.weightRow(head, query, muted),
    /** The weight of the sink, or null. */
    sink: logit === null || normalizer === null ? null : Math.exp(logit - normalizer),
  };
}

/** True if the query can see the key. */
export function sees({ original, signed, query }: Explanation, key: number): boolean {
  if (signed) return key <= query;
  return original.scores
    ? original.scores[key] > Number.NEGATIVE_INFINITY
    : original.weights[key] > 0;
}

/**
 * Bounds of the differences from the record's numbers.
 *
 * @param muted true if components are muted. The errors of components are taken for independent, so
 * that those of fewer add up to no more than the largest of all that was measured; but a row's
 * weights may follow the scores more closely.
 */
export function explanationErrors(data: LayerData, head: number, query: number, muted: boolean) {
  const { vectorRounding: component, scoreRounding: score } = data;
  const { program } = data.info;
  const scale = program && program.softcap === null ? Math.abs(headScale(program, head)) : 0;
  /** The bound for a product of two components. */
  const product = (q: number, k: number) =>
    component * (Math.abs(q) + Math.abs(k)) + component * component;
  /** For the weight of the sink: if no score differs by more, the odds of a weight differ by up to exp(2 · this). */
  const sink = Math.tanh(score / 2);
  return {
    component,
    product,
    /** The bound for q · k, also without muted components. */
    dot(key: number) {
      const [q, k] = [data.query(head, query), data.key(head, key)];
      const sum = q && k ? q.reduce((total, value, n) => total + product(value, k[n]), 0) : 0;
      return scale > 0 ? Math.min(sum, score / scale) : sum;
    },
    score,
    /** The bound for a weight; with muted components, for the weight without them. */
    weight: muted && program ? sink : data.rowRounding(head, query),
    sink,
  };
}

/** A bound of the difference of a bias, which is sent in half precision. */
export const biasError = (bias: number) => Math.abs(bias) * 2 ** -11;
