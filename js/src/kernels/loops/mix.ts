import { f32, f32x4, type i32, type usize, v128 } from "./builtins.ts";
import { LANES } from "./lanes.ts";

/** See `Kernels`. */
export function mix(
  rows: usize,
  matrices: i32,
  keys: i32,
  count: i32,
  inks: usize,
  out: usize,
): void {
  const stride: usize = keys << 2;
  for (const end = rows + (count << 2); rows < end; rows += 4, out += 16) {
    let most: f32 = 0;
    for (let part: usize = 0; part < 16; part += 4 * LANES) {
      let sum = f32x4.splat(0);
      for (let n = 0, at = rows, ink = inks + part; n < matrices; n++, at += stride, ink += 16) {
        const weight = f32.load(at);
        // The cube favours the strongest heads: a plain mean of twelve colours is grey.
        sum = f32x4.add(sum, f32x4.mul(f32x4.splat(weight * weight * weight), v128.load(ink)));
        if (weight > most) most = weight;
      }
      v128.store(out + part, sum);
    }
    const sum = f32.load(out + 12);
    for (let part: usize = 0; part < 16; part += 4 * LANES) {
      v128.store(
        out + part,
        sum > 0 ? f32x4.div(v128.load(out + part), f32x4.splat(sum)) : f32x4.splat(0),
      );
    }
    f32.store(out + 12, most);
  }
}
