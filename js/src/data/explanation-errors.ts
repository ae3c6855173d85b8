/** Bounds of the differences between the numbers of an explanation and those of the record. */

import type { LayerData } from "./layer-data.ts";
import { headScale } from "./scores.ts";

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
