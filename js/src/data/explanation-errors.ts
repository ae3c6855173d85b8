/** Bounds of the differences between the numbers of an explanation and those of the record. */

import type { LayerData } from "./layer-data.ts";
import { headScale } from "./scores.ts";

export interface ExplanationErrors {
  /** Of a component of a query or key. */
  readonly component: number;
  /** Of a product of two components. */
  product(q: number, k: number): number;
  /** Of q · k, also without muted components. */
  dot(key: number): number;
  /** Of a score; with muted components, of the score without them. */
  score(key: number): number;
  /** Of a weight; with muted components, of the weight without them. */
  weight(): number;
  /** Of the weight of the sink. */
  sink(): number;
}

/** @param muted true if components are muted: what is left was not compared by the encoder */
export function explanationErrors(
  data: LayerData,
  head: number,
  query: number,
  muted: boolean,
): ExplanationErrors {
  const component = data.vectorRounding;
  const { program } = data.info;
  const scale = program ? Math.abs(headScale(program, head)) : 0;
  const product = (q: number, k: number) =>
    component * (Math.abs(q) + Math.abs(k)) + component * component;
  // The sum of the errors of the products.
  const summed = (key: number) => {
    const [q, k] = [data.query(head, query), data.key(head, key)];
    return q && k ? q.reduce((sum, value, n) => sum + product(value, k[n]), 0) : 0;
  };
  const score = (key: number) => (muted ? scale * summed(key) : data.scoreRounding);
  // If no score differs by more than this, the odds of a weight differ by up to exp(2 · this).
  const worst = () => {
    if (!muted) return data.scoreRounding;
    let most = 0;
    for (let key = 0; key < data.numKeys; key++) most = Math.max(most, score(key));
    return most;
  };
  return {
    component,
    product,
    dot(key) {
      const sum = summed(key);
      const compared = program && program.softcap === null && !muted && scale > 0;
      return compared ? Math.min(sum, data.scoreRounding / scale) : sum;
    },
    score,
    weight: () => (muted ? Math.tanh(worst() / 2) : data.rowRounding(head, query)),
    sink: () => Math.tanh(worst() / 2),
  };
}

/** A bound of the difference of a bias, which is sent in half precision. */
export const biasError = (bias: number) => Math.abs(bias) * 2 ** -11;
