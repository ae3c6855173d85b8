import type { Kernels } from "./kernels.ts";

export const mix: Kernels["mix"] = (rows, inks, out) => {
  const matrices = inks.length / 4;
  const count = out.length / 4;
  const keys = rows.length / matrices;
  for (let key = 0, at = 0; key < count; key++, at += 4) {
    let r = 0;
    let g = 0;
    let b = 0;
    let parts = 0;
    let most = 0;
    for (let n = 0; n < matrices; n++) {
      const weight = rows[n * keys + key];
      // The cube favours the strongest heads: a plain mean of twelve colours is grey.
      const part = weight ** 3;
      r += part * inks[4 * n];
      g += part * inks[4 * n + 1];
      b += part * inks[4 * n + 2];
      parts += part;
      if (weight > most) most = weight;
    }
    out[at] = parts > 0 ? r / parts : 0;
    out[at + 1] = parts > 0 ? g / parts : 0;
    out[at + 2] = parts > 0 ? b / parts : 0;
    out[at + 3] = most;
  }
};
