import type { Kernels } from "./kernels.ts";

export const image: Kernels["image"] = (sums, out, stride, light) => {
  for (let at = 0; at < sums.length; at += 4) {
    const opacity = sums[at + 3];
    const to = at * stride;
    const some = opacity > 0;
    out[to] = some ? sums[at] / opacity : 0;
    out[to + 1] = some ? sums[at + 1] / opacity : 0;
    out[to + 2] = some ? sums[at + 2] / opacity : 0;
    out[to + 3] = some ? 255 * Math.min(1, light * opacity) : 0;
  }
};
