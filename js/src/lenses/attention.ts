/** Attention itself: the weights, which the softmax gives. */

import { headMatrix } from "../data/attention-matrix.ts";
import type { BrowserLens } from "./lens.ts";

export const attention: BrowserLens = {
  name: "attention",
  matrix: (lens, layer, head, segments) => ({
    ...headMatrix(layer, head, segments, lens),
    beside(query, key) {
      const value = layer.scoreRow(head, query)?.[key];
      const error = layer.scoreRounding;
      return value === undefined ? [] : [{ name: "score", value, error, as: "number" }];
    },
  }),
};
