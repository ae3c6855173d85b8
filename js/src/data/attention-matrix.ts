/** A matrix of attention weights, or of other numbers: of one head or several combined, between tokens or words. */

import { largestOf } from "../basics/extremes.ts";
import type { LayerData } from "./layer-data.ts";
import { ATTENTION, type LensInfo, type Side } from "./manifest.ts";
import type { Pooled } from "./thumbnails.ts";
import type { Units } from "./units.ts";

/** The recipe of a matrix, which a worker can repeat. */
export type MatrixSpec =
  | { readonly kind: "lens"; readonly lens: LensInfo; readonly head: number }
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

/** The origin of the numbers: a layer, or a matrix row by row. */
export type Source = LayerData | Float32Array;

export const isMatrix = (source: Source): source is Float32Array => ArrayBuffer.isView(source);

/** The tokens of each word. */
type Joined = Pick<Units, "tokens">;

/** A further number of a pair of tokens. */
export interface Quantity {
  readonly name: string;
  readonly value: number;
  /** A bound of its difference from the record's. */
  readonly error: number;
  /** A weight, a number with two decimals, or one with three significant digits. */
  readonly as: "weight" | "number" | "significant";
}

export interface AttentionMatrix {
  readonly name: string;
  /** The lens whose numbers these are. */
  readonly lens: LensInfo;
  /** True for B − A of two records. */
  readonly difference: boolean;
  /** The matrices of A and B of which this one is the difference; missing for one record's. */
  readonly sides?: readonly [AttentionMatrix, AttentionMatrix] | undefined;
  /** The magnitude with the full shade; missing where it is 1. */
  readonly peak?: number | undefined;
  /** The head that gives the colour; null for several heads. */
  readonly head: number | null;
  readonly spec: MatrixSpec;
  /** Null if there are several sources. */
  readonly source: Source | null;
  /**
   * The numbers of a query for each key; the score of a masked key is -Infinity.
   *
   * @param passing true if the next row of any matrix may overwrite this one: for long texts,
   * allocating a row takes longer than computing it.
   */
  row(query: number, passing?: boolean): Float32Array;
  /** The numbers of each query for a key. */
  column(key: number): Float32Array;
  /**
   * True if columns can be had at once. If not, a signal that this reads changes when they can;
   * until then, a column takes as long as all rows.
   */
  hasColumns(): boolean;
  /** A bound of the difference between a number and the record's. */
  rounding(query: number, key: number): number;
  /** A bound for all numbers. */
  readonly largestRounding: number;
  /** Further numbers of a pair; missing where there are none. */
  readonly beside?: ((query: number, key: number) => readonly Quantity[]) | undefined;
  /**
   * The head that has the number, in words, if this is a maximum; "" while numbers are missing.
   *
   * @param from the side of which the row or column is here
   */
  readonly origin?: ((query: number, key: number, from: Side) => string) | undefined;
  /** The pooled matrix to draw if not all rows are here. */
  readonly overview?: Pooled | undefined;
}

/** The heads that a matrix combines. */
export function headsOf(spec: MatrixSpec): readonly number[] {
  switch (spec.kind) {
    case "lens":
      return [spec.head];
    case "matrix":
      return [];
    case "combined":
      return spec.of.flatMap(headsOf);
    case "words":
      return headsOf(spec.of);
  }
}

/** B − A of two matrices of one lens; a key is masked where either masks it. */
export function differenceMatrix(
  a: AttentionMatrix,
  b: AttentionMatrix,
  peak: number | undefined,
): AttentionMatrix {
  const less = (before: Float32Array, after: Float32Array) =>
    after.map((value, n) =>
      value === MASKED || before[n] === MASKED ? MASKED : value - before[n],
    );
  return {
    ...b,
    name: `${b.name}, B − A`,
    difference: true,
    sides: [a, b],
    peak,
    source: null,
    beside: undefined,
    row: (query) => less(a.row(query, true), b.row(query, true)),
    column: (key) => less(a.column(key), b.column(key)),
    // Asked of both, so that both begin their work.
    hasColumns: () => [a, b].map((side) => side.hasColumns()).every(Boolean),
    rounding: (query, key) => a.rounding(query, key) + b.rounding(query, key),
    largestRounding: a.largestRounding + b.largestRounding,
  };
}

const MASKED = Number.NEGATIVE_INFINITY;

/** Both sides changed in the same way; undefined for one record's matrices. */
function sidesOf(
  matrices: readonly AttentionMatrix[],
  change: (matrices: readonly AttentionMatrix[]) => AttentionMatrix,
): AttentionMatrix["sides"] {
  const sides = matrices.map((matrix) => matrix.sides).filter((each) => each !== undefined);
  if (!sides.length) return undefined;
  return [change(sides.map(([a]) => a)), change(sides.map(([, b]) => b))];
}

/** The sum of a row of coefficients, and that of their magnitudes. */
export function sumsOf(row: Float32Array, rounding: number): readonly Quantity[] {
  const error = rounding * row.length;
  const sums = [
    ["row Σ", row.reduce((all, value) => all + value, 0)],
    ["Σ|·|", row.reduce((all, value) => all + Math.abs(value), 0)],
  ] as const;
  return sums.map(([name, value]) => ({ name, value, error, as: "number" }));
}

/** True for numbers of either sign, which have a colour each. */
export const isSigned = ({ lens, difference }: Pick<AttentionMatrix, "lens" | "difference">) =>
  lens.signed || difference;

/**
 * The number by which the strongest link is found: the magnitude of numbers that add up, and else
 * the number itself, as of a masked key.
 */
export const strengthOf = (
  { lens, difference }: Pick<AttentionMatrix, "lens" | "difference">,
  value: number,
): number => ((difference || lens.adds_up) && value !== MASKED ? Math.abs(value) : value);

/**
 * @param values [queries, keys], row by row
 * @param rounding bounds of the differences of the weights of each query
 */
export const storedMatrix = (
  name: string,
  values: Float32Array,
  keys: number,
  rounding?: Float32Array,
  lens = ATTENTION,
): AttentionMatrix => ({
  name,
  lens,
  difference: false,
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

/**
 * The overviews of matrices whose layers are fetched row by row, to draw in their place: matrices of cells
 * instead of tokens, with their rows and columns. Null if all rows are here.
 */
export function overviewOf(matrices: readonly AttentionMatrix[]) {
  const overviews = matrices.map(({ overview }) => overview).filter((one) => one !== undefined);
  if (!overviews.length) return null;
  const [{ rows, columns }] = overviews;
  return {
    matrices: overviews.map(({ values }) => storedMatrix("", values, columns)),
    rows: [...Array(rows).keys()],
    columns: [...Array(columns).keys()],
  };
}

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
  const [{ source, lens, difference, peak }] = matrices;
  const parts = matrices.map(({ overview }) => overview).filter((part) => part !== undefined);
  return {
    name,
    lens,
    difference,
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
  /** The ways to take the tokens of a query together, and those of a key. */
  const [fold, total] = how === "largest" ? [largestOf, largestOf] : [mean, sum];
  const row = (query: number) => {
    const own = join(
      queries.tokens[query].map((position) => matrix.row(position)),
      fold,
    );
    return Float32Array.from(keys.tokens, (tokens) => total(tokens.map((key) => own[key])));
  };
  const perKey = how === "largest" ? 1 : largestOf(keys.tokens.map(({ length }) => length));
  let peak: number | undefined;
  const peakOfWords = (): number => {
    const isHere = matrix.source ?? matrix.sides?.every(({ source }) => source);
    const most = (matrix.peak ?? 1) * perKey;
    // Reading a row that is not here would fetch it. The weights of a row add up to 1 at most.
    if (!isHere) return matrix.lens.signed ? most : Math.min(1, most);
    return largestOf(queries.tokens.map((_, query) => largestOf(row(query).map(Math.abs))));
  };
  const { name, lens, difference, head, source, overview } = matrix;
  return {
    ...{ name, lens, difference, head, source, overview },
    sides: sidesOf([matrix], ([side]) => wordMatrix(side, queries, keys, how)),
    get peak() {
      if (matrix.peak === undefined) return undefined;
      peak ??= peakOfWords();
      return peak;
    },
    spec: {
      kind: "words",
      of: matrix.spec,
      queries: { tokens: queries.tokens },
      keys: { tokens: keys.tokens },
      how,
    },
    row,
    column(key) {
      const own = join(
        keys.tokens[key].map((position) => matrix.column(position)),
        total,
      );
      return Float32Array.from(queries.tokens, (tokens) => fold(tokens.map((query) => own[query])));
    },
    hasColumns: () => matrix.hasColumns(),
    rounding(query, key) {
      return fold(
        queries.tokens[query].map((own) =>
          total(keys.tokens[key].map((other) => matrix.rounding(own, other))),
        ),
      );
    },
    largestRounding: matrix.largestRounding * perKey,
    beside(query, key) {
      const [own, other] = [queries.tokens[query], keys.tokens[key]];
      // Words of several tokens have none.
      const single = own.length === 1 && other.length === 1;
      return (single && matrix.beside?.(own[0], other[0])) || [];
    },
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
