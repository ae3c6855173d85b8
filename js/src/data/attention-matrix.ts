/** A matrix of attention weights: of one head or several combined, between tokens or words. */

import { largestOf } from "../basics/extremes.ts";
import { DifferenceLayer } from "./difference-layer.ts";
import type { Layer, Overview } from "./layer.ts";
import type { LayerData } from "./layer-data.ts";
import type { Side } from "./manifest.ts";
import type { Units } from "./units.ts";

/** The recipe of a matrix, which a worker can repeat. */
export type MatrixSpec =
  | { readonly kind: "head"; readonly head: number }
  | { readonly kind: "weighted"; readonly head: number }
  | { readonly kind: "scores"; readonly head: number }
  | { readonly kind: "matrix"; readonly name: string; readonly keys: number }
  | {
      readonly kind: "combined";
      readonly name: string;
      readonly of: readonly MatrixSpec[];
      readonly how: "mean" | "max";
    }
  | {
      readonly kind: "words";
      readonly of: MatrixSpec;
      readonly queries: Joined;
      readonly keys: Joined;
      readonly how: "attention" | "largest";
    };

/** The origin of the weights: a layer, or a matrix row by row. */
export type Source = LayerData | Float32Array;

export const isMatrix = (source: Source): source is Float32Array => ArrayBuffer.isView(source);

/** The tokens of each word. */
type Joined = Pick<Units, "tokens">;

export interface AttentionMatrix {
  readonly name: string;
  /**
   * The kind of its numbers: weights, shares of a row by another weighting, scores before the
   * softmax (-Infinity for masked keys), or B − A of weights or of scores.
   */
  readonly measure: "weight" | "share" | "score" | "difference" | "score difference";
  /** The matrices of A and B of which this one is the difference; missing for one record's. */
  readonly sides?: readonly [AttentionMatrix, AttentionMatrix] | undefined;
  /** The number with the full shade: a bound of |B − A|, or of most |scores|; missing for others. */
  readonly peak?: number | undefined;
  /** The head that gives the colour; null for several heads. */
  readonly head: number | null;
  readonly spec: MatrixSpec;
  /** Null if there are several sources. */
  readonly source: Source | null;
  /**
   * The weights of a query for each key.
   *
   * @param passing true if the next row of any matrix may overwrite this one: for long texts,
   * allocating a row takes longer than computing it.
   */
  row(query: number, passing?: boolean): Float32Array;
  /** The weights of each query for a key. */
  column(key: number): Float32Array;
  /**
   * True if columns can be had at once. If not, a signal that this reads changes when they can;
   * until then, a column takes as long as all rows.
   */
  hasColumns(): boolean;
  /** A bound of the difference between a weight and the record's. */
  rounding(query: number, key: number): number;
  /** A bound for all weights. */
  readonly largestRounding: number;
  /**
   * The head that has the weight, in words, if this is a maximum; "" while weights are missing.
   *
   * @param from the side of which the row or column is here
   */
  readonly origin?: ((query: number, key: number, from: Side) => string) | undefined;
  /** The pooled matrix to draw if not all rows are here. */
  readonly overview?: Overview | undefined;
}

/** Build a matrix from its recipe and its source, or a copy of the source. */
export function matrixFrom(spec: MatrixSpec, source: Source): AttentionMatrix {
  switch (spec.kind) {
    case "head":
      return headMatrix(source as LayerData, spec.head);
    case "weighted":
      return weightedMatrix(source as LayerData, spec.head);
    case "scores":
      return scoreMatrix(source as LayerData, spec.head);
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

/** The heads that a matrix combines. */
export function headsOf(spec: MatrixSpec): readonly number[] {
  switch (spec.kind) {
    case "head":
    case "weighted":
    case "scores":
      return [spec.head];
    case "matrix":
      return [];
    case "combined":
      return spec.of.flatMap(headsOf);
    case "words":
      return headsOf(spec.of);
  }
}

/** @param segments the queries and keys of its overview, as in `Choices`. */
export const headMatrix = (layer: Layer, head: number, segments = "all"): AttentionMatrix => ({
  ...(layer instanceof DifferenceLayer ? differenceOf(layer, head, segments) : WEIGHTS),
  name: layer instanceof DifferenceLayer ? `Head ${head}, B − A` : `Head ${head}`,
  head,
  spec: { kind: "head", head },
  // A layer that is fetched row by row cannot be copied to the worker, which could not fetch.
  source: layer.whole,
  row: (query, passing) => (passing ? layer.passingRow(head, query) : layer.weightRow(head, query)),
  column: (key) => layer.weightColumn(head, key),
  hasColumns: () => layer.hasColumns(head),
  rounding: (query) => layer.rowRounding(head, query),
  largestRounding: layer.largestRounding,
  overview: layer.overview(head, segments),
});

const WEIGHTS = { measure: "weight" } as const;

const differenceOf = ({ sides: [a, b], info }: DifferenceLayer, head: number, segments: string) =>
  ({
    measure: "difference",
    sides: [headMatrix(a, head, segments), headMatrix(b, head, segments)],
    peak: info.peaks?.[head],
  }) as const;

/** Both sides changed in the same way; undefined for one record's matrices. */
function sidesOf(
  matrices: readonly AttentionMatrix[],
  change: (matrices: readonly AttentionMatrix[]) => AttentionMatrix,
): AttentionMatrix["sides"] {
  const sides = matrices.map((matrix) => matrix.sides).filter((each) => each !== undefined);
  if (!sides.length) return undefined;
  return [change(sides.map(([a]) => a)), change(sides.map(([, b]) => b))];
}

/** The value-weighted shares of a head, after Kobayashi et al. 2020. */
export const weightedMatrix = (layer: LayerData, head: number): AttentionMatrix => ({
  name: `Head ${head}, value-weighted`,
  measure: "share",
  head,
  spec: { kind: "weighted", head },
  source: layer,
  row: (query) => layer.shareRow(head, query),
  column: (key) => layer.shareColumn(head, key),
  hasColumns: () => layer.hasColumns(head),
  rounding: () => layer.shareRounding,
  largestRounding: layer.shareRounding,
});

/** The scores of a head, before the softmax, or their B − A. The layer, or both sides, have them. */
export const scoreMatrix = (layer: LayerData | DifferenceLayer, head: number): AttentionMatrix => ({
  ...(layer instanceof DifferenceLayer ? differenceOfScores(layer, head) : SCORES),
  name: `Head ${head}, scores${layer instanceof DifferenceLayer ? ", B − A" : ""}`,
  get peak() {
    return layer.scorePeak(head);
  },
  head,
  spec: { kind: "scores", head },
  source: layer.whole,
  row: (query) => layer.scoreRow(head, query) ?? new Float32Array(0),
  column: (key) => layer.scoreColumn(head, key),
  hasColumns: () => true,
  rounding: () => layer.scoreRounding,
  largestRounding: layer.scoreRounding,
});

const SCORES = { measure: "score" } as const;

function differenceOfScores(
  { scored }: DifferenceLayer,
  head: number,
): Pick<AttentionMatrix, "measure" | "sides"> {
  const [a, b] = (scored ?? []).map((side) => scoreMatrix(side, head));
  return { measure: "score difference", sides: a && b && [a, b] };
}

/** True for numbers of either sign, which have a colour each. */
export const isSigned = ({ measure }: Pick<AttentionMatrix, "measure">): boolean =>
  measure !== "weight" && measure !== "share";

/** True for B − A of two records. */
export const isDifference = (measure: AttentionMatrix["measure"]): boolean =>
  measure === "difference" || measure === "score difference";

/**
 * The number by which the strongest link is found: |B − A|, and else the number itself, as of a
 * masked key.
 */
export const strengthOf = (measure: AttentionMatrix["measure"], value: number): number =>
  isDifference(measure) && value !== Number.NEGATIVE_INFINITY ? Math.abs(value) : value;

/**
 * @param values [queries, keys], row by row
 * @param rounding bounds of the differences of the weights of each query
 */
export const storedMatrix = (
  name: string,
  values: Float32Array,
  keys: number,
  rounding?: Float32Array,
  measure: AttentionMatrix["measure"] = "weight",
): AttentionMatrix => ({
  name,
  measure,
  head: null,
  spec: { kind: "matrix", name, keys },
  source: values,
  row: (query) => values.subarray(query * keys, (query + 1) * keys),
  column: (key) =>
    Float32Array.from({ length: values.length / keys }, (_, query) => values[query * keys + key]),
  hasColumns: () => true,
  rounding: (query) => rounding?.[query] ?? 0,
  largestRounding: rounding ? largestOf(rounding) : 0,
});

/** A bound of the difference of a sum of weights: of several units on one side, and one on the other. */
export function roundingOfSum(
  matrix: AttentionMatrix,
  side: Side,
  units: readonly number[],
  other: number,
): number {
  return sum(
    units.map((own) =>
      side === "query" ? matrix.rounding(own, other) : matrix.rounding(other, own),
    ),
  );
}

/** The mean or the maximum of several matrices, cell by cell. */
export function combinedMatrix(
  name: string,
  matrices: readonly AttentionMatrix[],
  how: "mean" | "max",
): AttentionMatrix {
  const fold = (parts: readonly Float32Array[]): Float32Array => {
    const out = parts[0].slice();
    for (const part of parts.slice(1)) {
      for (let n = 0; n < out.length; n++) {
        out[n] = how === "mean" ? out[n] + part[n] : Math.max(out[n], part[n]);
      }
    }
    return how === "mean" ? out.map((sum) => sum / parts.length) : out;
  };
  const [{ source, measure, peak }] = matrices;
  const parts = matrices.map(({ overview }) => overview).filter((part) => part !== undefined);
  return {
    name,
    measure,
    sides: sidesOf(matrices, (of) => combinedMatrix(name, of, how)),
    peak: peak === undefined ? undefined : largestOf(matrices.map((matrix) => matrix.peak ?? 0)),
    head: null,
    spec: { kind: "combined", name, of: matrices.map(({ spec }) => spec), how },
    source: matrices.every((matrix) => matrix.source === source) ? source : null,
    overview: parts.length
      ? { ...parts[0], values: fold(parts.map(({ values }) => values)) }
      : undefined,
    row: (query) => fold(matrices.map((matrix) => matrix.row(query))),
    column: (key) => fold(matrices.map((matrix) => matrix.column(key))),
    origin:
      how === "mean"
        ? undefined
        : (query, key, from) => {
            const weights = matrices.map((matrix) => weightAt(matrix, query, key, from));
            return matrices[indexOfLargest(weights)]?.name.toLowerCase() ?? "";
          },
    rounding: (query, key) => {
      const errors = matrices.map((matrix) => matrix.rounding(query, key));
      return how === "mean" ? mean(errors) : largestOf(errors);
    },
    largestRounding: largestOf(matrices.map((matrix) => matrix.largestRounding)),
    // Asked of every matrix, so that all of them begin their work.
    hasColumns: () => matrices.map((matrix) => matrix.hasColumns()).every(Boolean),
  };
}

/**
 * Attention between words instead of tokens, after Clark et al. 2019 (section 4.1): attention to a
 * word is the sum over its tokens, and attention from a word the mean over its tokens. For a matrix
 * that is a maximum itself, the maximum over both.
 */
export function wordMatrix(
  matrix: AttentionMatrix,
  queries: Joined,
  keys: Joined,
  how: "attention" | "largest" = "attention",
): AttentionMatrix {
  const from = (rows: readonly Float32Array[]) => join(rows, how === "largest" ? largestOf : mean);
  const to = (row: Float32Array) =>
    Float32Array.from(keys.tokens, (tokens) => {
      const parts = tokens.map((key) => row[key]);
      return how === "largest" ? largestOf(parts) : sum(parts);
    });
  const row = (query: number) =>
    to(from(queries.tokens[query].map((position) => matrix.row(position))));
  const perKey = how === "largest" ? 1 : largestOf(keys.tokens.map(({ length }) => length));
  let peak: number | undefined;
  const peakOfWords = (): number => {
    const isHere = matrix.source ?? matrix.sides?.every(({ source }) => source);
    // Reading a row that is not here would fetch it. The weights of a row add up to 1 at most.
    if (!isHere) return Math.min(1, (matrix.peak ?? 1) * perKey);
    return largestOf(queries.tokens.map((_, query) => largestOf(row(query).map(Math.abs))));
  };
  return {
    name: matrix.name,
    measure: matrix.measure,
    sides: sidesOf([matrix], ([side]) => wordMatrix(side, queries, keys, how)),
    get peak() {
      if (matrix.peak === undefined) return undefined;
      peak ??= peakOfWords();
      return peak;
    },
    head: matrix.head,
    spec: {
      kind: "words",
      of: matrix.spec,
      queries: { tokens: queries.tokens },
      keys: { tokens: keys.tokens },
      how,
    },
    source: matrix.source,
    overview: matrix.overview,
    row,
    column(key) {
      const columns = keys.tokens[key].map((position) => matrix.column(position));
      const total = join(columns, how === "largest" ? largestOf : sum);
      return Float32Array.from(queries.tokens, (tokens) => {
        const parts = tokens.map((query) => total[query]);
        return how === "largest" ? largestOf(parts) : mean(parts);
      });
    },
    hasColumns: () => matrix.hasColumns(),
    rounding(query, key) {
      const [fold, total] = how === "largest" ? [largestOf, largestOf] : [mean, sum];
      return fold(
        queries.tokens[query].map((own) =>
          total(keys.tokens[key].map((other) => matrix.rounding(own, other))),
        ),
      );
    },
    largestRounding: matrix.largestRounding * perKey,
    origin(query, key, from) {
      const pairs = queries.tokens[query].flatMap((own) =>
        keys.tokens[key].map((other) => [own, other] as const),
      );
      const weights = pairs.map(([own, other]) => weightAt(matrix, own, other, from));
      const largest = pairs[indexOfLargest(weights)];
      return (largest && matrix.origin?.(...largest, from)) ?? "";
    },
  };
}

const weightAt = (matrix: AttentionMatrix, query: number, key: number, from: Side): number =>
  from === "query" ? matrix.row(query)[key] : matrix.column(key)[query];

/** -1 if a value is missing. */
const indexOfLargest = (values: readonly number[]): number =>
  values.some(Number.isNaN) ? -1 : values.indexOf(largestOf(values));

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;

function join(rows: readonly Float32Array[], how: (values: readonly number[]) => number) {
  return rows.length === 1 ? rows[0] : rows[0].map((_, n) => how(rows.map((row) => row[n])));
}
