/** Attention itself: the weights, which the softmax gives; without one, coefficients. */

import { headMatrix, sumsOf } from "../data/attention-matrix.ts";
import type { RecordLayer } from "../data/layer.ts";
import type { LensInfo } from "../data/manifest.ts";
import { headLabel } from "../data/pairing.ts";
import { type BrowserLens, peakOf } from "./lens.ts";

export const attention: BrowserLens = {
  name: "attention",
  matrix: (lens, layer, head, segments) => ({
    ...headMatrix(layer, head, segments, lens),
    ...(lens.signed && coefficients(lens, layer, head)),
    beside(query, key) {
      if (lens.signed) return sumsOf(layer.weightRow(head, query), layer.rowRounding(head, query));
      const value = layer.scoreRow(head, query)?.[key];
      const error = layer.scoreRounding;
      return value === undefined ? [] : [{ name: "score", value, error, as: "number" }];
    },
  }),
};

function coefficients(lens: LensInfo, layer: RecordLayer, head: number) {
  const known = layer.info.peaks?.[lens.name]?.[head];
  const name = `${headLabel(layer.info, head)}, ${lens.many}`;
  const row = (query: number) => layer.passingRow(head, query);
  return { name, peak: known ?? peakOf(lens, layer, head, row) };
}
