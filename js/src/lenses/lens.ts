/** The numbers of a head by each kind of lens, and their peaks. */

import {
  type AttentionMatrix,
  type Quantity,
  storedMatrix,
  sumsOf,
} from "../data/attention-matrix.ts";
import type { Layer, RecordLayer } from "../data/layer.ts";
import type { LensInfo } from "../data/manifest.ts";
import { headLabel } from "../data/pairing.ts";
import type { LensNumbers } from "../data/stack-store.ts";

/**
 * Attention itself: the weights, which the softmax gives; without one, coefficients.
 *
 * @param segments the queries and keys of its overview, as in `Choices`
 */
export function attentionMatrix(
  lens: LensInfo,
  layer: RecordLayer,
  head: number,
  segments: string,
): AttentionMatrix {
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
      if (lens.signed) return sumsOf(layer.weightRow(head, query), layer.rowRounding(head, query));
      const value = layer.scoreRow(head, query)?.[key];
      const error = layer.scoreRounding;
      return value === undefined ? [] : [{ name: "score", value, error, as: "number" }];
    },
  };
}

/** The scores of a head, before the softmax; null where a page has weights alone, or rows. */
export function scoreMatrix(
  lens: LensInfo,
  layer: RecordLayer,
  head: number,
): AttentionMatrix | null {
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
}

/**
 * Weights times a factor of each head and key, as shares of their row; null if the layer has no
 * factors, or is not here as a whole.
 */
export function shareMatrix(
  lens: LensInfo,
  layer: RecordLayer,
  head: number,
): AttentionMatrix | null {
  const { whole } = layer;
  const factors = whole?.factors(lens, head);
  if (!whole || !factors) return null;
  const [factor, product] = lens.symbols ?? ["factor", "product"];
  return {
    ...ofWeights(lens, whole, head),
    row: (query) => whole.shareRow(lens, head, query),
    column: (key) => whole.shareColumn(lens, head, key),
    hasColumns: () => whole.hasColumns(head),
    rounding: () => whole.shareRounding,
    largestRounding: whole.shareRounding,
    beside(query, key) {
      const weight = weightBeside(whole, head, query, key);
      const [own, error] = [factors[key], weight.error * factors[key]];
      return [
        weight,
        { name: factor, value: own, error: 0, as: "significant" },
        { name: product, value: weight.value * own, error, as: "number" },
      ];
    },
  };
}

/** A matrix that was computed beforehand, of the head or of the layer. */
export function numbersMatrix(
  lens: LensInfo,
  layer: RecordLayer,
  head: number,
  { matrices, rounding }: LensNumbers,
): AttentionMatrix {
  const { number } = layer.info;
  const at = lens.kind === "heads" ? head : 0;
  const of = lens.accumulates && number ? `layers 0–${number}` : `layer ${number}`;
  const rows = new Float32Array(layer.numQueries).fill(rounding[at]);
  const matrix = storedMatrix(`${lens.label} of ${of}`, matrices[at], layer.numKeys, rows, lens);
  const peak = layer.info.peaks?.[lens.name]?.[at];
  if (lens.kind === "layers") return { ...matrix, peak };
  const { name, beside } = ofWeights(lens, layer, head);
  return { ...matrix, name, beside, head, peak };
}

/** The common part of a head's matrices by lenses: its name, and the weight beside a number. */
const ofWeights = (lens: LensInfo, layer: RecordLayer, head: number) => ({
  ...{ lens, head, difference: false },
  // A layer that is fetched row by row cannot be copied to the worker, which could not fetch.
  source: layer.whole,
  name: `${headLabel(layer.info, head)}, ${lens.label.toLowerCase()}`,
  spec: { kind: "lens", lens, head } as const,
  beside: (query: number, key: number) => [weightBeside(layer, head, query, key)],
});

const weightBeside = (layer: RecordLayer, head: number, query: number, key: number): Quantity => ({
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
