/** What lenses share: the interface of those that are computed here, weights beside numbers, and peaks. */

import type { AttentionMatrix, Quantity } from "../data/attention-matrix.ts";
import type { Layer, RecordLayer } from "../data/layer.ts";
import type { LayerInfo, LensInfo } from "../data/manifest.ts";
import { headLabel } from "../data/pairing.ts";

/** A lens whose numbers are computed here. */
export interface BrowserLens {
  /** The name by which `attnwidget/analysis/lenses` lists it. */
  readonly name: string;
  /** The reason why a layer lacks it here, though its record may have it; null if it has it. */
  lacks?(layer: LayerInfo): { readonly brief: string; readonly sentence: string } | null;
  /**
   * The numbers of a head; null where a layer of one record lacks what they are computed from.
   *
   * @param segments the queries and keys of its overview, as in `Choices`
   */
  matrix(
    lens: LensInfo,
    layer: RecordLayer,
    head: number,
    segments: string,
  ): AttentionMatrix | null;
}

/** The common part of a head's matrices by lenses: its name, and the weight beside a number. */
export const ofWeights = (lens: LensInfo, layer: RecordLayer, head: number) => ({
  ...{ lens, head, difference: false },
  // A layer that is fetched row by row cannot be copied to the worker, which could not fetch.
  source: layer.whole,
  name: `${headLabel(layer.info, head)}, ${lens.label.toLowerCase()}`,
  spec: { kind: "lens", lens, head } as const,
  beside: (query: number, key: number) => [weightBeside(layer, head, query, key)],
});

export const weightBeside = (
  layer: RecordLayer,
  head: number,
  query: number,
  key: number,
): Quantity => ({
  name: "weight",
  value: layer.weightRow(head, query)[key],
  error: layer.rowRounding(head, query),
  as: "weight",
});

/** By lens and head, the peaks that were computed here. */
const peaks = new WeakMap<Layer, Map<string, number>>();

/** The most rows in which the largest magnitude is looked for. */
const PEAK_ROWS = 256;

/** The largest magnitude in evenly spaced rows of a long text, except that of masked keys. */
export function peakOf(
  { name }: LensInfo,
  layer: Layer,
  head: number,
  row: (query: number) => Iterable<number>,
): number {
  const known = peaks.get(layer) ?? new Map<string, number>();
  peaks.set(layer, known);
  const key = `${name} ${head}`;
  let peak = known.get(key);
  if (peak !== undefined) return peak;
  peak = 0;
  const rows = layer.numQueries;
  for (let query = 0; query < rows; query += Math.ceil(rows / PEAK_ROWS)) {
    for (const value of row(query)) {
      if (value > Number.NEGATIVE_INFINITY) peak = Math.max(peak, Math.abs(value));
    }
  }
  known.set(key, peak);
  return peak;
}
