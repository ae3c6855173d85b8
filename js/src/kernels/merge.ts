import type { Kernels } from "./kernels.ts";

export const merge: Kernels["merge"] = (left, right, span, rise) => {
  const cells = left.length / 4;
  // Cells below are still empty: lines of this span rise by less.
  for (let n = 4 * (cells / 2 - (2 * span - 1)); n < left.length; n++) {
    const leftSum = left[n];
    const at = n + 4 * rise;
    left[n] = leftSum + (at < right.length ? right[at] : 0);
    right[n] = leftSum + (at + 4 < right.length ? right[at + 4] : 0);
  }
};
