/** The steps of a softmax, separate so that a column can repeat those of its rows. */

import type { Kernels } from "./kernels.ts";

export const largest: Kernels["largest"] = (values) => {
  let most = Number.NEGATIVE_INFINITY;
  for (let n = 0; n < values.length; n++) if (values[n] > most) most = values[n];
  return most;
};

export const exponentials: Kernels["exponentials"] = (values, peak) => {
  let sum = 0;
  for (let n = 0; n < values.length; n++) {
    values[n] = Math.exp(values[n] - peak);
    sum += values[n];
  }
  return sum;
};

export const multiply: Kernels["multiply"] = (values, factor) => {
  for (let n = 0; n < values.length; n++) values[n] *= factor;
};

export const weights: Kernels["weights"] = (scores, peaks, factors) => {
  for (let n = 0; n < scores.length; n++) {
    // Rounded between the two steps, as in a row.
    scores[n] = Math.exp(scores[n] - peaks[n]);
    scores[n] *= factors[n];
  }
};
