/** The numbers that lead to the weights of keys and of the sink, and bounds of their errors. */

import { biasError } from "../../data/explanation.ts";
import type { Explained } from "./query-analysis.ts";

/** In the order in which they follow from each other. */
export const QUANTITIES = ["dot", "bias", "score", "weight"] as const;
export type Quantity = (typeof QUANTITIES)[number];

/** The row of the sink among those of keys. */
export const SINK = -1;

export interface Numbers {
  /** Null for the sink where it has no such number. */
  of(key: number): number | null;
  /** A bound of the difference of this number from the record's. */
  error(key: number): number;
}

/** The model's numbers, or those without the muted neurons; null where there are none. */
export function numbersOf(
  { bias, logit, errors, ...readings }: Explained,
  quantity: Quantity,
  muted = false,
): Numbers | null {
  const which = muted ? "shown" : "original";
  const [{ dots, scores, weights, sink }, bound] = [readings[which], errors[which]];
  const values = { dot: dots, bias, score: scores, weight: weights }[quantity];
  if (!values) return null;
  const ofSink = { dot: null, bias: null, score: logit, weight: sink }[quantity];
  const error = {
    dot: bound.dot,
    bias: (key: number) => biasError(values[key]),
    score: () => bound.score,
    weight: () => bound.weight,
  }[quantity];
  return {
    of: (key) => (key === SINK ? ofSink : values[key]),
    error: (key) => (key !== SINK ? error(key) : quantity === "weight" ? bound.sink : 0),
  };
}
