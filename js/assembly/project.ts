/** Mirrors src/kernels/project.ts. */
export function project(
  line: usize,
  cells: i32,
  start: f32,
  step: f32,
  gain: f32,
  sums: usize,
  height: i32,
): void {
  const gains = f32x4.splat(gain * 0.5);
  for (let y = 0; y < height; y++, sums += 16) {
    const upper = between(line, cells, start + (<f32>y - 0.75) * step);
    const lower = between(line, cells, start + (<f32>y + 0.75) * step);
    const sum = f32x4.mul(gains, f32x4.add(upper, lower));
    v128.store(sums, f32x4.add(v128.load(sums), sum));
  }
}

function between(line: usize, cells: i32, place: f32): v128 {
  const whole = floor<f32>(place);
  const cell = <i32>whole;
  if (cell < 0 || cell + 1 >= cells) return f32x4.splat(0);
  const at = line + (cell << 4);
  const a = v128.load(at);
  const b = v128.load(at, 16);
  return f32x4.add(a, f32x4.mul(f32x4.splat(place - whole), f32x4.sub(b, a)));
}
