import { type f32, f32x4, type i32, type usize, v128 } from "./builtins.ts";
import { LANES, storeSums } from "./lanes.ts";

/** See `Kernels`. Takes four rows at a time, and writes up to three numbers too many. */
export function dots(
  vector: usize,
  rows: usize,
  count: i32,
  dim: i32,
  scale: f32,
  out: usize,
): void {
  const stride: usize = dim << 2;
  const whole: usize = (dim & ~(LANES - 1)) << 2;
  const scales = f32x4.splat(scale);
  for (let j = 0; j < count; j += 4) {
    const a = rows + <usize>j * stride;
    const b = a + stride;
    const c = b + stride;
    const d = c + stride;
    let sumA = f32x4.splat(0);
    let sumB = f32x4.splat(0);
    let sumC = f32x4.splat(0);
    let sumD = f32x4.splat(0);
    for (let n: usize = 0; n < whole; n += 4 * LANES) {
      const value = v128.load(vector + n);
      sumA = f32x4.add(sumA, f32x4.mul(value, v128.load(a + n)));
      sumB = f32x4.add(sumB, f32x4.mul(value, v128.load(b + n)));
      sumC = f32x4.add(sumC, f32x4.mul(value, v128.load(c + n)));
      sumD = f32x4.add(sumD, f32x4.mul(value, v128.load(d + n)));
    }
    for (let n = whole; n < stride; n += 4) {
      const value = v128.load32_zero(vector + n);
      sumA = f32x4.add(sumA, f32x4.mul(value, v128.load32_zero(a + n)));
      sumB = f32x4.add(sumB, f32x4.mul(value, v128.load32_zero(b + n)));
      sumC = f32x4.add(sumC, f32x4.mul(value, v128.load32_zero(c + n)));
      sumD = f32x4.add(sumD, f32x4.mul(value, v128.load32_zero(d + n)));
    }
    // The order of additions is the same for every row, so that a product does not depend on which
    // vector comes first.
    storeSums(out + (j << 2), sumA, sumB, sumC, sumD, scales);
  }
}
