/** The steps of a softmax, separate so that a column can repeat those of its rows. */

import { type f32, f32x4, type f64, f64x2, type i32, type usize, v128 } from "./builtins.ts";
import { exp, LANES, largestLane, secondHalf, sumOfWide } from "./lanes.ts";

export function largest(values: usize, count: i32): f32 {
  const end = values + (count << 2);
  let all = f32x4.splat(-Infinity);
  for (let at = values; at < end; at += 4 * LANES) all = f32x4.pmax(all, v128.load(at));
  return largestLane(all);
}

export function exponentials(values: usize, count: i32, peak: f32): f64 {
  const end = values + (count << 2);
  const peaks = f32x4.splat(peak);
  let first = f64x2.splat(0);
  let second = f64x2.splat(0);
  for (let at = values; at < end; at += 4 * LANES) {
    const value = exp(f32x4.sub(v128.load(at), peaks));
    v128.store(at, value);
    first = f64x2.add(first, f64x2.promote_low_f32x4(value));
    second = f64x2.add(second, secondHalf(value));
  }
  return sumOfWide(f64x2.add(first, second));
}

export function multiply(values: usize, count: i32, factor: f32): void {
  const end = values + (count << 2);
  const factors = f32x4.splat(factor);
  for (let at = values; at < end; at += 4 * LANES)
    v128.store(at, f32x4.mul(v128.load(at), factors));
}

export function weights(scores: usize, count: i32, peaks: usize, factors: usize): void {
  const bytes: usize = count << 2;
  for (let n: usize = 0; n < bytes; n += 4 * LANES) {
    const value = exp(f32x4.sub(v128.load(scores + n), v128.load(peaks + n)));
    v128.store(scores + n, f32x4.mul(value, v128.load(factors + n)));
  }
}
