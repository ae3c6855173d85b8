/** Four lanes: what `src/kernels/loops/lanes.ts` says, for WebAssembly. */

export const LANES: i32 = 4;
export const WIDE: i32 = 2;

export const SCRATCH: usize = memory.data(128, 16);

export const free: usize = (__heap_base + 15) & ~15;

export function whole(value: f32): i32 {
  return <i32>value;
}

export function wholeBelow(value: f32): i32 {
  return <i32>floor<f32>(value);
}

/** To about 2 units in the last place; 0 below -87. The polynomial is that of Cephes' expf. */
export function exp(x: v128): v128 {
  // Below, the result would be subnormal.
  const normal = f32x4.ge(x, f32x4.splat(-87));
  // x = n ln 2 + r, with ln 2 as the sum of two numbers, the first with few digits, so that r is
  // exact.
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(<f32>Math.LOG2E)));
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.1219444e-4)));
  let p = f32x4.splat(1.98756915e-4);
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.3981999507e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(8.3334519073e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(4.1665795894e-2));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.6666665459e-1));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(5.0000001201e-1));
  p = f32x4.add(f32x4.mul(p, f32x4.mul(r, r)), f32x4.add(r, f32x4.splat(1)));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return v128.and(f32x4.mul(p, power), normal);
}

export function largestLane(value: v128): f32 {
  return max(
    max(f32x4.extract_lane(value, 0), f32x4.extract_lane(value, 1)),
    max(f32x4.extract_lane(value, 2), f32x4.extract_lane(value, 3)),
  );
}

export function first(value: v128): v128 {
  return v128.shuffle<f32>(value, value, 0, 0, 0, 0);
}

export function second(value: v128): v128 {
  return v128.shuffle<f32>(value, value, 1, 1, 1, 1);
}

export function third(value: v128): v128 {
  return v128.shuffle<f32>(value, value, 2, 2, 2, 2);
}

export function fourth(value: v128): v128 {
  return v128.shuffle<f32>(value, value, 3, 3, 3, 3);
}

export function places(): v128 {
  return f32x4(1, 2, 3, 4);
}

export function lanesBefore(before: v128, next: v128): v128 {
  return v128.shuffle<f32>(before, next, 3, 4, 5, 6);
}

export function firstLanes(value: v128, count: i32): v128 {
  return v128.and(value, i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count)));
}

export function storeSums(at: usize, a: v128, b: v128, c: v128, d: v128, factor: v128): void {
  const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  const sums = f32x4.add(
    v128.shuffle<f32>(ab, cd, 0, 1, 4, 5),
    v128.shuffle<f32>(ab, cd, 2, 3, 6, 7),
  );
  v128.store(at, f32x4.mul(sums, factor));
}

export function storeBytes(at: usize, value: v128): void {
  const whole = i32x4.trunc_sat_f32x4_s(f32x4.nearest(value));
  const half = i16x8.narrow_i32x4_s(whole, whole);
  v128.store32_lane(at, i8x16.narrow_i16x8_u(half, half), 0);
}

export function storeByte(at: usize, value: f32): void {
  i32.store8(at, <i32>nearest<f32>(value));
}

export function four(at: usize): v128 {
  return v128.load(at);
}

export function partOf(four: v128, _part: usize): v128 {
  return four;
}

export function loadWide(at: usize): v128 {
  return v128.load(at);
}

export function storeWide(at: usize, value: v128): void {
  v128.store(at, value);
}

export function splatOfWide(at: usize): v128 {
  return v128.load64_splat(at);
}

export function loadWidened(at: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(at));
}

export function secondHalf(value: v128): v128 {
  return f64x2.promote_low_f32x4(v128.shuffle<f32>(value, value, 2, 3, 2, 3));
}

export function sumOfWide(value: v128): f64 {
  return f64x2.extract_lane(value, 0) + f64x2.extract_lane(value, 1);
}

export function storeApart(at: usize, stride: usize, value: v128): void {
  f32.store(at, <f32>f64x2.extract_lane(value, 0));
  f32.store(at + stride, <f32>f64x2.extract_lane(value, 1));
}
