import type { Kernels } from "./kernels.ts";

export const image: Kernels["image"] = (sums, out, stride, light) => {
  for (let at = 0; at < sums.length; at += 4) {
    const opacity = sums[at + 3];
    if (!(opacity > 0)) continue;
    const to = at * stride;
    for (let part = 0; part < 3; part++) out[to + part] = sums[at + part] / opacity;
    out[to + 3] = 255 * Math.min(1, light * opacity);
  }
};
