/** Mirrors src/kernels/merge.ts: red, green, blue and opacity are the four lanes. */
export function merge(left: usize, right: usize, size: i32, span: i32, rise: i32): void {
  const last: usize = size << 4; // the byte after the last cell
  const shift: usize = rise << 4;
  let at: usize = (size / 2 - (2 * span - 1)) << 4;
  for (const end = last - shift - 16; at < end; at += 16) {
    const leftSum = v128.load(left + at);
    const here = v128.load(right + at + shift);
    const next = v128.load(right + at + shift, 16);
    v128.store(left + at, f32x4.add(leftSum, here));
    v128.store(right + at, f32x4.add(leftSum, next));
  }
  // Beyond, the other line has left the matrix.
  for (; at < last; at += 16) {
    const leftSum = v128.load(left + at);
    if (at + shift < last) v128.store(left + at, f32x4.add(leftSum, v128.load(right + at + shift)));
    v128.store(right + at, leftSum);
  }
}
