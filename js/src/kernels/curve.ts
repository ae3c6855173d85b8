import type { Kernels } from "./kernels.ts";

export const curve: Kernels["curve"] = (
  sums,
  height,
  bends,
  from,
  to,
  thickness,
  red,
  green,
  blue,
  opacity,
) => {
  const width = bends.length / 2;
  const drop = to - from;
  for (let x = 0; x < width; x++) {
    const middle = from + drop * bends[2 * x];
    const slope = drop * bends[2 * x + 1];
    // The vertical extent of a band of this thickness at this slope.
    const half = (thickness / 2) * Math.sqrt(1 + slope * slope);
    const top = Math.max(middle - half, 0);
    const bottom = Math.min(middle + half, height);
    for (let y = Math.floor(top); y < bottom; y++) {
      const covered = Math.min(y + 1, bottom) - Math.max(y, top);
      const amount = covered * opacity;
      const at = (y * width + x) * 4;
      sums[at] += amount * red;
      sums[at + 1] += amount * green;
      sums[at + 2] += amount * blue;
      sums[at + 3] += amount;
    }
  }
};
