/** The scores of a head, before the softmax. */

import { type BrowserLens, ofWeights, peakOf } from "./lens.ts";

export const scores: BrowserLens = {
  name: "scores",
  // A page may have weights alone of a layer whose queries and keys are recorded.
  lacks: ({ program }) =>
    program ? null : { brief: "weights alone", sentence: "is in this page as weights alone" },
  matrix(lens, layer, head) {
    const source = layer.info.program ? layer.whole : null;
    if (!source) return null;
    const row = (query: number) => source.scoreRow(head, query) ?? new Float32Array(0);
    return {
      ...ofWeights(lens, source, head),
      get peak() {
        return peakOf(lens, source, head, row);
      },
      row,
      column: (key) => source.scoreColumn(head, key),
      hasColumns: () => true,
      rounding: () => source.scoreRounding,
      largestRounding: source.scoreRounding,
    };
  },
};
