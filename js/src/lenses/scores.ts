/** The scores of a head, before the softmax. */

import type { LayerData } from "../data/layer-data.ts";
import type { BrowserLens } from "./browser-lens.ts";
import { ofWeights } from "./weights.ts";

export const scores: BrowserLens = {
  name: "scores",
  // A page may have weights alone of a layer whose queries and keys are recorded.
  lacks: ({ program }) =>
    program ? null : { brief: "weights alone", sentence: "is in this page as weights alone" },
  matrix(lens, layer, head) {
    const source = layer.info.program ? layer.whole : null;
    return (
      source && {
        ...ofWeights(lens, source, head),
        get peak() {
          return peakOf(source, head);
        },
        row: (query) => source.scoreRow(head, query) ?? new Float32Array(0),
        column: (key) => source.scoreColumn(head, key),
        hasColumns: () => true,
        rounding: () => source.scoreRounding,
        largestRounding: source.scoreRounding,
      }
    );
  },
};

const peaks = new WeakMap<LayerData, Map<number, number>>();

function peakOf(layer: LayerData, head: number): number {
  const known = peaks.get(layer) ?? new Map<number, number>();
  peaks.set(layer, known);
  const peak =
    known.get(head) ?? largestMagnitude(layer.numQueries, (i) => layer.scoreRow(head, i) ?? []);
  known.set(head, peak);
  return peak;
}

/** The most rows in which the largest magnitude is looked for. */
const PEAK_ROWS = 256;

/** The largest magnitude in evenly spaced rows of a long text, except that of masked keys. */
export function largestMagnitude(rows: number, row: (query: number) => Iterable<number>): number {
  let peak = 0;
  for (let query = 0; query < rows; query += Math.ceil(rows / PEAK_ROWS)) {
    for (const value of row(query)) {
      if (value > Number.NEGATIVE_INFINITY) peak = Math.max(peak, Math.abs(value));
    }
  }
  return peak;
}
