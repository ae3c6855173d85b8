/** Mirrors src/kernels/turn.ts, four vectors at a time. Writes up to three vectors too many. */
export function turn(
  values: usize,
  count: i32,
  dim: i32,
  step: f64,
  matrix: usize,
  work: usize,
  out: usize,
): void {
  const line: usize = (<usize>count) << 2;
  const length: usize = (<usize>dim) << 2;
  const steps = f64x2.splat(step);
  for (let first = 0; first < count; first += 4) {
    let from = values + ((<usize>first) << 2);
    for (let to = work, end = work + ((<usize>dim) << 5); to < end; to += 32, from += line) {
      const four = v128.load(from);
      const back = v128.shuffle<f32>(four, four, 2, 3, 2, 3);
      v128.store(to, f64x2.mul(f64x2.promote_low_f32x4(four), steps));
      v128.store(to, f64x2.mul(f64x2.promote_low_f32x4(back), steps), 16);
    }
    let at = matrix;
    for (let i = 0; i < dim; i++) {
      let evenFront = f64x2.splat(0);
      let evenBack = f64x2.splat(0);
      let oddFront = f64x2.splat(0);
      let oddBack = f64x2.splat(0);
      let vector = work;
      for (let n = 1; n < dim; n += 2, at += 16, vector += 64) {
        const even = v128.load64_splat(at);
        const odd = v128.load64_splat(at, 8);
        evenFront = f64x2.add(evenFront, f64x2.mul(even, v128.load(vector)));
        evenBack = f64x2.add(evenBack, f64x2.mul(even, v128.load(vector, 16)));
        oddFront = f64x2.add(oddFront, f64x2.mul(odd, v128.load(vector, 32)));
        oddBack = f64x2.add(oddBack, f64x2.mul(odd, v128.load(vector, 48)));
      }
      let front = f64x2.add(evenFront, oddFront);
      let back = f64x2.add(evenBack, oddBack);
      if (dim & 1) {
        const last = v128.load64_splat(at);
        front = f64x2.add(front, f64x2.mul(last, v128.load(vector)));
        back = f64x2.add(back, f64x2.mul(last, v128.load(vector, 16)));
        at += 8;
      }
      const to = out + <usize>first * length + ((<usize>i) << 2);
      store<f32>(to, <f32>f64x2.extract_lane(front, 0));
      store<f32>(to + length, <f32>f64x2.extract_lane(front, 1));
      store<f32>(to + 2 * length, <f32>f64x2.extract_lane(back, 0));
      store<f32>(to + 3 * length, <f32>f64x2.extract_lane(back, 1));
    }
  }
}
