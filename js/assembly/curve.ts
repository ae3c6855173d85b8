/** Mirrors src/kernels/curve.ts: red, green, blue and opacity are the four lanes. */
export function curve(
  sums: usize,
  width: i32,
  height: i32,
  bends: usize,
  from: f32,
  to: f32,
  thickness: f32,
  red: f32,
  green: f32,
  blue: f32,
  opacity: f32,
): void {
  let color = f32x4.splat(red);
  color = f32x4.replace_lane(color, 1, green);
  color = f32x4.replace_lane(color, 2, blue);
  color = f32x4.mul(f32x4.replace_lane(color, 3, 1), f32x4.splat(opacity));
  const drop = to - from;
  const line: usize = width << 4;
  for (let x = 0; x < width; x++) {
    const middle = from + drop * load<f32>(bends + (x << 3));
    const slope = drop * load<f32>(bends + (x << 3), 4);
    const half = thickness * 0.5 * sqrt<f32>(1 + slope * slope);
    const top = max<f32>(middle - half, 0);
    const bottom = min<f32>(middle + half, <f32>height);
    let y = floor<f32>(top);
    let at = sums + <usize>(<i32>y) * line + (x << 4);
    for (; y < bottom; y += 1, at += line) {
      const covered = min<f32>(y + 1, bottom) - max<f32>(y, top);
      v128.store(at, f32x4.add(v128.load(at), f32x4.mul(color, f32x4.splat(covered))));
    }
  }
}
