import { type f32, f32x4, type i32, type usize, v128 } from "./builtins.ts";
import { LANES, wholeBelow } from "./lanes.ts";

/** See `Kernels`. */
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
    // Two samples per pixel, since a pixel may cover two cells, and each reaches beyond the pixel:
    // lines move by whole cells, so where one misses a cell, its neighbour counts it twice.
    const upper = start + (<f32>y - 0.75) * step;
    const lower = start + (<f32>y + 0.75) * step;
    const over = wholeBelow(upper);
    const under = wholeBelow(lower);
    for (let part: usize = 0; part < 16; part += 4 * LANES) {
      const a = between(line + part, cells, over, upper);
      const b = between(line + part, cells, under, lower);
      v128.store(sums + part, f32x4.add(v128.load(sums + part), f32x4.mul(gains, f32x4.add(a, b))));
    }
  }
}

/** The interpolated value between a cell and the next. Cells beyond the ends are empty. */
function between(line: usize, cells: i32, cell: i32, place: f32): v128 {
  if (cell < 0 || cell + 1 >= cells) return f32x4.splat(0);
  const at = line + (cell << 4);
  const a = v128.load(at);
  return f32x4.add(a, f32x4.mul(f32x4.splat(place - <f32>cell), f32x4.sub(v128.load(at + 16), a)));
}
