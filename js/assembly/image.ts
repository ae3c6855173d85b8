/** Mirrors src/kernels/image.ts. */
export function image(sums: usize, count: i32, out: usize, stride: i32, light: f32): void {
  const step: usize = stride << 2;
  for (let at = sums, end = sums + (count << 4); at < end; at += 16, out += step) {
    const sum = v128.load(at);
    const opacity = f32x4.extract_lane(sum, 3);
    if (opacity > 0) store<u32>(out, pixel(sum, opacity, light));
  }
}

/** The bytes of one pixel. */
function pixel(sum: v128, opacity: f32, light: f32): u32 {
  const mean = f32x4.div(sum, f32x4.splat(opacity));
  const color = f32x4.replace_lane(mean, 3, 255 * min<f32>(1, light * opacity));
  const whole = i32x4.trunc_sat_f32x4_s(f32x4.nearest(color));
  const half = i16x8.narrow_i32x4_s(whole, whole);
  return <u32>i32x4.extract_lane(i8x16.narrow_i16x8_u(half, half), 0);
}
