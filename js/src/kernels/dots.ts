import type { Kernels } from "./kernels.ts";

export const dots: Kernels["dots"] = (vector, rows, count, scale, out) => {
  const dim = vector.length;
  for (let j = 0, at = 0; j < count; j++) {
    let sum = 0;
    for (let n = 0; n < dim; n++, at++) sum += vector[n] * rows[at];
    out[j] = sum * scale;
  }
};
