/** The contributions of neurons, the components of queries and keys, to a dot product. */

import type { LayerInfo } from "./manifest.ts";

/** The terms of q · k. */
export function products(q: Float32Array, k: Float32Array): Float32Array {
  return q.map((value, n) => value * k[n]);
}

/** The dot product with the numbers of `keys` from `at` on. */
export function dot(q: Float32Array, keys: Float32Array, at = 0): number {
  let sum = 0;
  for (let n = 0; n < q.length; n++) sum += q[n] * keys[at + n];
  return sum;
}

/** A copy of the vector with the muted components set to zero. */
export function without(vector: Float32Array, muted: readonly number[]): Float32Array {
  const rest = vector.slice();
  for (const n of muted) rest[n] = 0;
  return rest;
}

/** Indices by decreasing value; equal values stay in order. */
export function largestFirst(values: ArrayLike<number>): readonly number[] {
  return Array.from(values, (_, n) => n).sort((a, b) => values[b] - values[a]);
}

/** The index of the value with the largest magnitude, among some; the first of equal ones. */
export const strongest = (indices: readonly number[], values: ArrayLike<number>): number =>
  indices.reduce((best, at) => (Math.abs(values[at]) > Math.abs(values[best]) ? at : best));

/** Per component, |q × k| summed over keys. */
export function magnitudes(q: Float32Array, keys: readonly Float32Array[]): Float64Array {
  const sums = new Float64Array(q.length);
  for (const k of keys) for (let n = 0; n < q.length; n++) sums[n] += Math.abs(q[n] * k[n]);
  return sums;
}

/**
 * The contribution of each component to the difference D between the scaled dot product of one key
 * and the mean of those of the others: c_n = scale · q_n · (k_n − mean of the others' k_n), Σ c_n =
 * D.
 *
 * @param mean the mean of the other keys
 */
export function contributions(
  scale: number,
  q: Float32Array,
  key: Float32Array,
  mean: ArrayLike<number>,
): Float64Array {
  return Float64Array.from(q, (value, n) => scale * value * (key[n] - mean[n]));
}

/**
 * The fewest components whose contributions make at least `share` of the difference D = Σ c_n:
 * those with the largest c_n in D's direction. Contributions of the opposite sign count in D, so a
 * few components may make more than D.
 */
export function fewest(contributed: Float64Array, share: number): readonly number[] {
  const difference = contributed.reduce((sum, value) => sum + value, 0);
  const along = contributed.map((value) => Math.sign(difference) * value);
  const taken: number[] = [];
  let sum = 0;
  for (const n of largestFirst(along)) {
    if (sum >= share * Math.abs(difference)) break;
    taken.push(n);
    sum += along[n];
  }
  return taken;
}

/** The component that a rotary embedding rotates together with n, or null. */
export function partnerOf(rotary: LayerInfo["rotary"], n: number): number | null {
  if (!rotary || n < rotary.start || n >= rotary.start + rotary.dims) return null;
  const at = n - rotary.start;
  const half = rotary.dims / 2;
  if (rotary.pairs === "neighbours") return at % 2 ? n - 1 : n + 1;
  return at < half ? n + half : n - half;
}
