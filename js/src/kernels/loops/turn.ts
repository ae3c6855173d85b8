import { type f64, f64x2, type i32, type usize } from "./builtins.ts";
import { loadWide, loadWidened, splatOfWide, storeApart, storeWide, WIDE } from "./lanes.ts";

/** The bytes of the numbers of a wide vector, in double and in single precision. */
const HALF: usize = 8 * WIDE;
const NARROW: usize = 4 * WIDE;

/** See `Kernels`. Takes two wide vectors' numbers of `values` at a time. */
export function turn(
  values: usize,
  count: i32,
  dim: i32,
  step: f64,
  matrix: usize,
  work: usize,
  out: usize,
): void {
  const line: usize = count << 2;
  const length: usize = dim << 2;
  const steps = f64x2.splat(step);
  for (let first = 0; first < count; first += 2 * WIDE) {
    let from = values + (first << 2);
    const end = work + 2 * dim * HALF;
    for (let to = work; to < end; to += 2 * HALF, from += line) {
      storeWide(to, f64x2.mul(loadWidened(from), steps));
      storeWide(to + HALF, f64x2.mul(loadWidened(from + NARROW), steps));
    }
    let at = matrix;
    let to = out + <usize>first * length;
    for (let i = 0; i < dim; i++, to += 4) {
      let evenFront = f64x2.splat(0);
      let evenBack = f64x2.splat(0);
      let oddFront = f64x2.splat(0);
      let oddBack = f64x2.splat(0);
      let vector = work;
      for (let n = 1; n < dim; n += 2, at += 16, vector += 4 * HALF) {
        const even = splatOfWide(at);
        const odd = splatOfWide(at + 8);
        evenFront = f64x2.add(evenFront, f64x2.mul(even, loadWide(vector)));
        evenBack = f64x2.add(evenBack, f64x2.mul(even, loadWide(vector + HALF)));
        oddFront = f64x2.add(oddFront, f64x2.mul(odd, loadWide(vector + 2 * HALF)));
        oddBack = f64x2.add(oddBack, f64x2.mul(odd, loadWide(vector + 3 * HALF)));
      }
      if (dim & 1) {
        const last = splatOfWide(at);
        evenFront = f64x2.add(evenFront, f64x2.mul(last, loadWide(vector)));
        evenBack = f64x2.add(evenBack, f64x2.mul(last, loadWide(vector + HALF)));
        at += 8;
      }
      storeApart(to, length, f64x2.add(evenFront, oddFront));
      storeApart(to + <usize>WIDE * length, length, f64x2.add(evenBack, oddBack));
    }
  }
}
