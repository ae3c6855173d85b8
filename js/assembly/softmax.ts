/** Mirrors src/kernels/softmax.ts. Arrays are padded with -Infinity to a multiple of four. */

import { exp } from "./exp";

export function largest(values: usize, count: i32): f32 {
  const end = values + (count << 2);
  let most = f32x4.splat(-Infinity);
  for (let at = values; at < end; at += 16) most = f32x4.pmax(most, v128.load(at));
  return max(
    max(f32x4.extract_lane(most, 0), f32x4.extract_lane(most, 1)),
    max(f32x4.extract_lane(most, 2), f32x4.extract_lane(most, 3)),
  );
}

export function exponentials(values: usize, count: i32, peak: f32): f64 {
  const end = values + (count << 2);
  const peaks = f32x4.splat(peak);
  let low = f64x2.splat(0);
  let high = f64x2.splat(0);
  for (let at = values; at < end; at += 16) {
    const value = exp(f32x4.sub(v128.load(at), peaks));
    v128.store(at, value);
    low = f64x2.add(low, f64x2.promote_low_f32x4(value));
    high = f64x2.add(high, f64x2.promote_low_f32x4(v128.shuffle<f32>(value, value, 2, 3, 2, 3)));
  }
  const sums = f64x2.add(low, high);
  return f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
}

export function multiply(values: usize, count: i32, factor: f32): void {
  const end = values + (count << 2);
  const factors = f32x4.splat(factor);
  for (let at = values; at < end; at += 16) v128.store(at, f32x4.mul(v128.load(at), factors));
}

export function weights(scores: usize, count: i32, peaks: usize, factors: usize): void {
  const bytes: usize = count << 2;
  for (let n: usize = 0; n < bytes; n += 16) {
    const value = exp(f32x4.sub(v128.load(scores + n), v128.load(peaks + n)));
    v128.store(scores + n, f32x4.mul(value, v128.load(factors + n)));
  }
}
