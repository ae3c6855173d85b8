/**
 * Pooled matrices of heads: decoded, as `attnwidget/wire/manifest.py` writes them, made of numbers that
 * are computed here, and cropped to the chosen segments, as `attnwidget/analysis/thumbnails.py` has it.
 */

import {
  ATTENTION,
  hasThumbnails,
  type LayerInfo,
  type LensInfo,
  type Manifest,
  type StackInfo,
  type Tokens,
  whyNot,
} from "./manifest.ts";
import { type Sides, shownTokens, splitOf } from "./shown.ts";

/** The longest side of a thumbnail, in cells. */
const THUMBNAIL_SIZE = 32;

/** The pooled matrix of a head. */
export interface Thumbnail {
  readonly rows: number;
  readonly columns: number;
  /** 0 to 15: the square root of the largest magnitude in each cell; below zero, as where B has less. */
  readonly levels: Int8Array;
  /** True for numbers of either sign, which have a colour each. */
  readonly signed: boolean;
}

/** Thumbnails by layer and head; none of a layer that lacks the lens. */
type OfLayers = readonly (readonly Thumbnail[])[];

/** Thumbnails by the names of a stack, which may be B − A, and of a lens. */
export type Overview = ReadonlyMap<string, ReadonlyMap<string, OfLayers>>;

/** The highest level. */
export const MOST = 15;
/** The level of zero among those with a sign, as they are sent, and the most above and below it. */
const ZERO = 8;
export const MOST_SIGNED = 7;

/** Decode the thumbnails. */
export function decodeOverview(manifest: Manifest, bytes: Uint8Array): Overview {
  const { stacks, lenses, texts, compared } = manifest;
  // A profile has none of other lenses.
  const travelling = texts === null ? lenses.filter(hasThumbnails) : [];
  const overview = new Map<string, Map<string, OfLayers>>();
  let offset = 0;
  const next = (rows: number, columns: number, signed: boolean): Thumbnail => {
    const levels = new Int8Array(rows * columns);
    for (let i = 0; i < levels.length; i++) {
      const pair = bytes[offset + (i >> 1)];
      levels[i] = (i & 1 ? pair & 15 : pair >> 4) - (signed ? ZERO : 0);
    }
    offset += Math.ceil(levels.length / 2);
    if (offset > bytes.length) throw new Error("The thumbnails of this record are incomplete.");
    return { rows, columns, levels, signed };
  };
  const read = (
    stack: StackInfo,
    lens: LensInfo,
    signed: boolean,
    has: (layer: LayerInfo) => boolean = () => true,
  ) => {
    const [rows, columns] = thumbnailSize(stack, manifest);
    const layers = stack.layers.map((layer) =>
      Array.from({ length: has(layer) ? layer.heads : 0 }, () => next(rows, columns, signed)),
    );
    const ofStack = overview.get(stack.name) ?? new Map<string, OfLayers>();
    overview.set(stack.name, ofStack.set(lens.name, layers));
  };
  for (const stack of stacks) {
    const [{ signed, peaks }] = stack.layers;
    // A profile has no coefficients of one text.
    read(stack, ATTENTION, Boolean(signed && peaks?.[ATTENTION.name]));
  }
  for (const lens of travelling)
    for (const stack of stacks)
      read(stack, lens, lens.signed, ({ number }) => !whyNot(lens, stack.name, number));
  for (const lens of [ATTENTION, ...travelling])
    for (const { difference } of compared?.stacks.values() ?? [])
      read(difference, lens, true, ({ peaks }) => Boolean(peaks?.[lens.name]));
  return overview;
}

const thumbnailSize = ({ queries, keys }: StackInfo, { texts }: Manifest) =>
  [queries, keys].map(({ labels }) =>
    texts === null ? Math.min(labels.length, THUMBNAIL_SIZE) : THUMBNAIL_SIZE,
  ) as [number, number];

/** By the number of a layer, the thumbnails of its heads; null for a layer without the lens. */
export type ComputedThumbnails = ReadonlyMap<number, readonly Thumbnail[] | null>;

/**
 * The number of the largest magnitude in each cell of a thumbnail, by its square root.
 *
 * @param row returns the numbers of a query
 * @param signed true for numbers of either sign
 * @param like a thumbnail of this head's size
 */
export function computedThumbnail(
  row: (query: number) => Float32Array,
  signed: boolean,
  { queries, keys, sampled }: StackInfo,
  { rows, columns }: Thumbnail,
): Thumbnail {
  const [rowOf, columnOf] = [cellsOfTokens(queries, rows), cellsOfTokens(keys, columns)];
  const cells = new Float32Array(rows * columns);
  const all = queries.labels.length;
  const count = sampled ?? all;
  for (let n = 0; n < count; n++) {
    const query = Math.round((n * (all - 1)) / Math.max(1, count - 1));
    const numbers = row(query);
    for (let key = 0; key < numbers.length; key++) {
      const cell = rowOf[query] * columns + columnOf[key];
      // Masked keys have none.
      if (numbers[key] === Number.NEGATIVE_INFINITY) continue;
      if (Math.abs(numbers[key]) > Math.abs(cells[cell])) cells[cell] = numbers[key];
    }
  }
  const peak = cells.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const levels = Int8Array.from(
    cells,
    (value) => Math.sign(value) * Math.round(MOST * Math.sqrt(Math.abs(value) / peak)),
  );
  return { rows, columns, levels, signed };
}

/** The cells that hold some of these tokens, in order. */
function cellsWith(tokens: Tokens, cells: number, positions: readonly number[]): readonly number[] {
  if (positions.length === tokens.labels.length) return Array.from({ length: cells }, (_, n) => n);
  const of = cellsOfTokens(tokens, cells);
  return [...new Set(positions.map((at) => of[at]))];
}

/** True if some cells hold tokens of the chosen segments, and others. */
export function sharesCells(
  { rows, columns }: Pick<Thumbnail, "rows" | "columns">,
  sides: Sides,
  segments: string,
): boolean {
  const shown = shownTokens(segments, sides);
  const shared = (tokens: Tokens, cells: number, positions: readonly number[]) => {
    const of = cellsOfTokens(tokens, cells);
    const within = new Set(positions.map((at) => of[at]));
    return of.filter((cell) => within.has(cell)).length > positions.length;
  };
  return shared(sides.queries, rows, shown.queries) || shared(sides.keys, columns, shown.keys);
}

/** The cell of each token, of so many: no cell holds tokens of both texts of a pair. */
export function cellsOfTokens(tokens: Tokens, cells: number): readonly number[] {
  const { length } = tokens.labels;
  const split = splitOf(tokens) ?? 0;
  const share = Math.floor((2 * cells * split + length) / (2 * length));
  const first = split && Math.max(1, Math.min(cells - 1, share));
  return tokens.labels.map((_, at) => {
    const [token, count, start, own] =
      at < split ? [at, split, 0, first] : [at - split, length - split, first, cells - first];
    return start + Math.floor(((token + 1) * own - 1) / count);
  });
}

/** The cells of a thumbnail that hold tokens of the chosen segments. */
export function cropped(thumbnail: Thumbnail, sides: Sides, segments: string): Thumbnail {
  const shown = shownTokens(segments, sides);
  const rows = cellsWith(sides.queries, thumbnail.rows, shown.queries);
  const columns = cellsWith(sides.keys, thumbnail.columns, shown.keys);
  if (rows.length === thumbnail.rows && columns.length === thumbnail.columns) return thumbnail;
  const levels = Int8Array.from(
    rows.flatMap((row) =>
      columns.map((column) => thumbnail.levels[row * thumbnail.columns + column]),
    ),
  );
  return { ...thumbnail, rows: rows.length, columns: columns.length, levels };
}

/** A pooled matrix: the largest weight of each cell, [rows, columns]. */
export type Pooled = ReturnType<typeof pooled>;

/**
 * The numbers for which a thumbnail's cells stand, of the chosen segments: a level is the square
 * root of a share of the peak.
 *
 * @param peak the number of the highest level, `most`
 */
export function pooled(
  thumbnail: Thumbnail,
  sides: Sides,
  segments: string,
  peak: number,
  most = MOST,
) {
  const { rows, columns, levels } = cropped(thumbnail, sides, segments);
  const values: Float32Array = Float32Array.from(
    levels,
    (level) => Math.sign(level) * peak * (level / most) ** 2,
  );
  return { rows, columns, values };
}
