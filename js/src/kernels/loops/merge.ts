import { f32x4, type i32, type usize, v128 } from "./builtins.ts";
import { LANES } from "./lanes.ts";

/** See `Kernels`. A cell has red, green, blue and opacity. */
export function merge(left: usize, right: usize, size: i32, span: i32, rise: i32): void {
  const last: usize = right + (size << 4); // the byte after the last cell
  // Cells above are still empty: lines of this span rise by less.
  const first: usize = ((size >> 1) - (2 * span - 1)) << 4;
  let here = left + first;
  let there = right + first + (rise << 4);
  let at = right + first;
  for (; there < last - 16; at += 4 * LANES, here += 4 * LANES, there += 4 * LANES) {
    const sum = v128.load(here);
    const other = v128.load(there);
    const next = v128.load(there + 16);
    v128.store(here, f32x4.add(sum, other));
    v128.store(at, f32x4.add(sum, next));
  }
  // Beyond, the other line has left the matrix.
  for (; at < last; at += 4 * LANES, here += 4 * LANES, there += 4 * LANES) {
    const sum = v128.load(here);
    if (there < last) v128.store(here, f32x4.add(sum, v128.load(there)));
    v128.store(at, sum);
  }
}
