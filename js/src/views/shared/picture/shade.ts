/** Weights on a picture: the shades of its patches, and numbers that sum them up. */

import { type LayerInfo, middleOf, type Patches, type StackInfo } from "../../../data/manifest.ts";

type Grid = Pick<Patches, "rows" | "columns" | "of">;

/** The token of each patch; -1 where there is none. */
export function tokensOf({ rows, columns, of }: Grid): Int32Array {
  const tokens = new Int32Array(rows * columns).fill(-1);
  of.forEach((patch, token) => {
    if (patch !== null) tokens[patch] = token;
  });
  return tokens;
}

/**
 * The query whose attention is shown while none is locked.
 *
 * @param withoutPatch the queries that are shown and have no place on an image
 */
export function firstQuery(
  { queries }: Pick<StackInfo, "queries">,
  { program }: Pick<LayerInfo, "program">,
  withoutPatch: readonly number[],
  grid: Grid | null,
): number {
  const last = queries.labels.length - 1;
  // With a causal mask, only the last token sees all others; and of a text, it is what writes on.
  const isText = withoutPatch.includes(last) && !queries.special.includes(last);
  const isCausal = (program?.mask ?? "none") !== "none";
  if (isCausal || isText) return last;
  // Within windows, it is padding.
  if (program?.blocks && grid) return middleOf(grid);
  return withoutPatch[0] ?? Math.max(0, grid ? middleOf(grid) : -1);
}

/**
 * The largest weight on images.
 *
 * @param weights by token
 * @param placed the tokens that have a place
 * @param own the tokens that look: their attention to themselves may be far above all other
 */
export function largestOn(
  weights: ArrayLike<number>,
  placed: ArrayLike<number>,
  own: readonly number[],
): number {
  let largest = 0;
  for (let at = 0; at < placed.length; at++) {
    const token = placed[at];
    if (weights[token] > largest && !own.includes(token)) largest = weights[token];
  }
  return largest;
}

/**
 * The shades of patches, 0 to 1: the square root of the weight's share of the largest.
 *
 * @param weights by token
 * @param tokens of the patches, see `tokensOf`
 */
export const shadesOf = (
  weights: ArrayLike<number>,
  tokens: Int32Array,
  largest: number,
): Float32Array =>
  Float32Array.from(tokens, (token) => {
    const weight = weights[token];
    if (!(weight > 0)) return 0;
    return largest > 0 ? Math.sqrt(Math.min(1, weight / largest)) : 1;
  });

/** The tokens of the largest weights above zero, from the largest on. */
export function strongestOf(weights: ArrayLike<number>, count: number): readonly number[] {
  const tokens = Array.from(weights, (_, token) => token).filter((token) => weights[token] > 0);
  return tokens.sort((a, b) => weights[b] - weights[a]).slice(0, count);
}

/** The tokens of the strongest patches, but for those of the tokens that look. */
export function strongestPatches(
  weights: ArrayLike<number>,
  { of }: Grid,
  own: readonly number[],
  count: number,
): readonly number[] {
  return strongestOf(weights, weights.length)
    .filter((token) => of[token] !== null && !own.includes(token))
    .slice(0, count);
}

/**
 * @param weights a query's, by token
 * @param from its patch on the grid; null without one
 */
export function summaryOf(weights: ArrayLike<number>, { columns, of }: Grid, from: number | null) {
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
