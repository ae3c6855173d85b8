/** Mirrors src/kernels/mix.ts: red, green, blue and the rest are the four lanes. */
export function mix(
  rows: usize,
  matrices: i32,
  keys: i32,
  count: i32,
  inks: usize,
  out: usize,
): void {
  const stride: usize = (<usize>keys) << 2;
  for (let key: usize = 0, end = (<usize>count) << 2; key < end; key += 4) {
    let sum = f32x4.splat(0);
    let most: f32 = 0;
    let at = rows + key;
    for (let n = 0; n < matrices; n++, at += stride) {
      const weight = load<f32>(at);
      const part = f32x4.splat(weight * weight * weight);
      sum = f32x4.add(sum, f32x4.mul(part, v128.load(inks + (n << 4))));
      most = max(most, weight);
    }
    const parts = f32x4.extract_lane(sum, 3);
    const mean = parts > 0 ? f32x4.div(sum, f32x4.splat(parts)) : f32x4.splat(0);
    v128.store(out + (key << 2), f32x4.replace_lane(mean, 3, most));
  }
}
