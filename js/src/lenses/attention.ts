/** Attention itself: the weights, which the softmax gives; without one, coefficients. */

import { sumsOf } from "../data/attention-matrix.ts";
import { headLabel } from "../data/pairing.ts";
import { type BrowserLens, ofWeights, peakOf } from "./lens.ts";

export const attention: BrowserLens = {
  name: "attention",
  matrix(lens, layer, head, segments) {
    const label = headLabel(layer.info, head);
    const row = (query: number) => layer.passingRow(head, query);
    const peak = () => layer.info.peaks?.[lens.name]?.[head] ?? peakOf(lens, layer, head, row);
    return {
      ...ofWeights(lens, layer, head),
      name: lens.signed ? `${label}, ${lens.many}` : label,
      peak: lens.signed ? peak() : undefined,
      row: (query, passing) => (passing ? row(query) : layer.weightRow(head, query)),
      column: (key) => layer.weightColumn(head, key),
      hasColumns: () => layer.hasColumns(head),
      rounding: (query) => layer.rowRounding(head, query),
      largestRounding: layer.largestRounding,
      overview: layer.overview(head, segments),
      beside(query, key) {
        if (lens.signed)
          return sumsOf(layer.weightRow(head, query), layer.rowRounding(head, query));
        const value = layer.scoreRow(head, query)?.[key];
        const error = layer.scoreRounding;
        return value === undefined ? [] : [{ name: "score", value, error, as: "number" }];
      },
    };
  },
};
