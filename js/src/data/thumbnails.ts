/** Crops thumbnails to the chosen segments: see `attnwidget/analysis/thumbnails.py`. */

import type { Thumbnail } from "./codec.ts";
import type { Tokens } from "./manifest.ts";
import { type Sides, shownTokens, splitOf } from "./shown.ts";

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
  const cut = (cells: Uint8Array) =>
    Uint8Array.from(
      rows.flatMap((row) => columns.map((column) => cells[row * thumbnail.columns + column])),
    );
  const { levels, less } = thumbnail;
  return {
    rows: rows.length,
    columns: columns.length,
    levels: cut(levels),
    ...(less && { less: cut(less) }),
  };
}
