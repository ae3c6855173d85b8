import type { Kernels } from "./kernels.ts";

export const project: Kernels["project"] = (line, start, step, gain, sums) => {
  const height = sums.length / 4;
  for (let y = 0; y < height; y++) {
    // Two samples per pixel, since a pixel may cover two cells, and each reaches beyond the pixel:
    // lines move by whole cells, so where one misses a cell, its neighbour counts it twice.
    add(sums, 4 * y, line, start + (y - 0.75) * step, gain / 2);
    add(sums, 4 * y, line, start + (y + 0.75) * step, gain / 2);
  }
};

/** Add the interpolated value between two cells. Cells beyond the ends are empty. */
function add(
  sums: Float32Array,
  to: number,
  line: Float32Array,
  place: number,
  gain: number,
): void {
  const cell = Math.floor(place);
  if (cell < 0 || 4 * (cell + 1) >= line.length) return;
  const part = place - cell;
  for (let n = 0; n < 4; n++) {
    const [a, b] = [line[4 * cell + n], line[4 * (cell + 1) + n]];
    sums[to + n] += gain * (a + part * (b - a));
  }
}
