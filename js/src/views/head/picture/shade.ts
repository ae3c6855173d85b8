/** Weights on a picture: the shades of its patches, and numbers that sum them up. */

import type { Patches } from "../../../data/manifest.ts";

/** The token of each patch. */
export function tokensOf({ rows, columns, of }: Patches): Int32Array {
  const tokens = new Int32Array(rows * columns);
  of.forEach((patch, token) => {
    if (patch !== null) tokens[patch] = token;
  });
  return tokens;
}

export interface Shades {
  /** By patch, 0 to 1: the square root of the weight's share of `largest`. */
  readonly values: Float32Array;
  /** The largest weight on the picture, but for those of the tokens that look. */
  readonly largest: number;
}

/**
 * The shades of patches.
 *
 * @param weights by token
 * @param tokens of the patches, see `tokensOf`
 * @param own the tokens that look: their attention to themselves may be far above all other
 */
export function shadesOf(
  weights: ArrayLike<number>,
  tokens: Int32Array,
  own: readonly number[],
): Shades {
  let largest = 0;
  for (const token of tokens) {
    if (weights[token] > largest && !own.includes(token)) largest = weights[token];
  }
  const values = Float32Array.from(tokens, (token) => {
    const weight = weights[token];
    if (!(weight > 0)) return 0;
    return largest > 0 ? Math.sqrt(Math.min(1, weight / largest)) : 1;
  });
  return { values, largest };
}

/** The tokens of the largest weights above zero, from the largest on. */
export function strongestOf(weights: ArrayLike<number>, count: number): readonly number[] {
  const tokens = Array.from(weights, (_, token) => token).filter((token) => weights[token] > 0);
  return tokens.sort((a, b) => weights[b] - weights[a]).slice(0, count);
}

/** The tokens of the strongest patches, but for those of the tokens that look. */
export function strongestPatches(
  weights: ArrayLike<number>,
  { of }: Patches,
  own: readonly number[],
  count: number,
): readonly number[] {
  return strongestOf(weights, weights.length)
    .filter((token) => of[token] !== null && !own.includes(token))
    .slice(0, count);
}

/** @param weights a query's, by token */
export function summaryOf(weights: ArrayLike<number>, patches: Patches, query: number) {
  const { columns, of } = patches;
  const from = of[query];
  let [entropy, distance, around, onPatches] = [0, 0, 0, 0];
  of.forEach((patch, token) => {
    const weight = weights[token];
    if (weight > 0) entropy -= weight * Math.log(weight);
    if (patch === null || from === null) return;
    const down = Math.floor(patch / columns) - Math.floor(from / columns);
    const across = (patch % columns) - (from % columns);
    distance += weight * Math.hypot(down, across);
    onPatches += weight;
    if (Math.abs(down) <= 1 && Math.abs(across) <= 1) around += weight;
  });
  const sorted = Float32Array.from(weights).sort().reverse();
  const total = sorted.reduce((sum, weight) => sum + weight, 0);
  let [most, sum] = [0, 0];
  while (most < sorted.length && sum < 0.9 * total) sum += sorted[most++];
  return {
    /** In nats, over all tokens. */
    entropy,
    /** In patches, weighted by the attention to patches; null from a token without one. */
    distance: from === null || !onPatches ? null : distance / onPatches,
    /** The weight on the patch itself and the 8 around it; null from a token without one. */
    around: from === null ? null : around,
    /** The least number of tokens that together get 90% of the attention. */
    most,
  };
}
