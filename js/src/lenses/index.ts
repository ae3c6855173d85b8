/** The numbers of a head by the lens that is chosen, also in a worker, and why a layer may lack it. */

import {
  type AttentionMatrix,
  combinedMatrix,
  differenceMatrix,
  type MatrixSpec,
  type Quantity,
  type Source,
  storedMatrix,
  sumsOf,
  wordMatrix,
} from "../data/attention-matrix.ts";
import { DifferenceLayer, type Layer, type RecordLayer } from "../data/layer.ts";
import type { LayerData } from "../data/layer-data.ts";
import { type LayerInfo, type LensInfo, whyNot } from "../data/manifest.ts";
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
function scoreMatrix(lens: LensInfo, layer: RecordLayer, head: number): AttentionMatrix | null {
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
function shareMatrix(lens: LensInfo, layer: RecordLayer, head: number): AttentionMatrix | null {
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
function numbersMatrix(
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
function peakOf(
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

/** The lenses whose numbers are computed here, by the names that `attnwidget/analysis/lenses` lists. */
const BROWSER = { attention: attentionMatrix, scores: scoreMatrix };

const isOurs = (name: string): name is keyof typeof BROWSER => Object.hasOwn(BROWSER, name);

/** False for a lens that a newer version computes. */
export const isKnown = ({ kind, name }: LensInfo): boolean => kind !== "browser" || isOurs(name);

/** Why a page has no scores of a layer whose queries and keys are recorded. */
const WEIGHTS_ALONE = { brief: "weights alone", sentence: "is in this page as weights alone" };

/** The reason why a layer of a record lacks a lens; null if it has it. */
export const lackOf = (lens: LensInfo, stack: string, { number, program }: LayerInfo) =>
  whyNot(lens, stack, number) ?? (lens.name === "scores" && !program ? WEIGHTS_ALONE : null);

/** The ingredients of a matrix besides its layer. */
interface Ingredients {
  /** The queries and keys of its overview, as in `Choices`. */
  readonly segments?: string;
  /** The matrices of a lens that has some: those of the layer, or of both sides of B − A. */
  readonly numbers?: readonly LensNumbers[] | undefined;
}

/** The numbers of a head by a lens, or their B − A; null where the layer lacks what they need. */
export function lensMatrix(
  lens: LensInfo,
  layer: Layer,
  head: number,
  { segments = "all", numbers = [] }: Ingredients = {},
): AttentionMatrix | null {
  if (layer instanceof DifferenceLayer) {
    const [a, b] = layer.sides.map((side, at) =>
      lensMatrix(lens, side, head, { segments, numbers: numbers.slice(at, at + 1) }),
    );
    if (!a || !b) return null;
    const matrix = differenceMatrix(a, b, layer.info.peaks?.[lens.name]?.[head]);
    const overview = a.overview || b.overview ? layer.overview(head, segments) : undefined;
    // Matrices of layers have peaks of their own, unless they are shares, but their B − A has none.
    const scaled = lens.kind === "browser" || a.peak !== undefined || b.peak !== undefined;
    return matrix.peak === undefined && scaled
      ? { ...matrix, peak: peakOf(lens, layer, head, matrix.row) }
      : { ...matrix, overview };
  }
  if (lens.kind === "browser") {
    return isOurs(lens.name) ? BROWSER[lens.name](lens, layer, head, segments) : null;
  }
  if (lens.kind === "factors") return shareMatrix(lens, layer, head);
  return numbers.length ? numbersMatrix(lens, layer, head, numbers[0]) : null;
}

/** Build a matrix from its recipe and its source, or a copy of the source. */
export function matrixFrom(spec: MatrixSpec, source: Source): AttentionMatrix {
  switch (spec.kind) {
    case "lens": {
      const matrix = lensMatrix(spec.lens, source as LayerData, spec.head);
      if (!matrix) throw new Error(`This layer has no ${spec.lens.many}.`);
      return matrix;
    }
    case "matrix":
      return storedMatrix(spec.name, source as Float32Array, spec.keys);
    case "combined": {
      const matrices = spec.of.map((part) => matrixFrom(part, source));
      return combinedMatrix(spec.name, matrices, spec.how);
    }
    case "words":
      return wordMatrix(matrixFrom(spec.of, source), spec.queries, spec.keys, spec.how);
  }
}
