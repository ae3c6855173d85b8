/** Mirrors src/kernels/dots.ts, four rows at a time. Writes up to three numbers too many. */
export function dots(
  vector: usize,
  rows: usize,
  count: i32,
  dim: i32,
  scale: f32,
  out: usize,
): void {
  const stride: usize = dim << 2;
  const quads: usize = (dim & ~3) << 2;
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
    for (let n: usize = 0; n < quads; n += 16) {
      const value = v128.load(vector + n);
      sumA = f32x4.add(sumA, f32x4.mul(value, v128.load(a + n)));
      sumB = f32x4.add(sumB, f32x4.mul(value, v128.load(b + n)));
      sumC = f32x4.add(sumC, f32x4.mul(value, v128.load(c + n)));
      sumD = f32x4.add(sumD, f32x4.mul(value, v128.load(d + n)));
    }
    // The four partial sums of each row become one lane. The order of additions is the same for
    // every row, so that a product does not depend on which vector comes first.
    const ab = f32x4.add(
      v128.shuffle<f32>(sumA, sumB, 0, 4, 1, 5),
      v128.shuffle<f32>(sumA, sumB, 2, 6, 3, 7),
    );
    const cd = f32x4.add(
      v128.shuffle<f32>(sumC, sumD, 0, 4, 1, 5),
      v128.shuffle<f32>(sumC, sumD, 2, 6, 3, 7),
    );
    let sums = f32x4.add(
      v128.shuffle<f32>(ab, cd, 0, 1, 4, 5),
      v128.shuffle<f32>(ab, cd, 2, 3, 6, 7),
    );
    for (let n = quads; n < stride; n += 4) {
      const value = f32x4.splat(load<f32>(vector + n));
      const column = lanes(load<f32>(a + n), load<f32>(b + n), load<f32>(c + n), load<f32>(d + n));
      sums = f32x4.add(sums, f32x4.mul(value, column));
    }
    v128.store(out + (j << 2), f32x4.mul(sums, scales));
  }
}

function lanes(a: f32, b: f32, c: f32, d: f32): v128 {
  let all = f32x4.splat(a);
  all = f32x4.replace_lane(all, 1, b);
  all = f32x4.replace_lane(all, 2, c);
  return f32x4.replace_lane(all, 3, d);
}
