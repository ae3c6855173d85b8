/** Crops thumbnails to the texts of a pair: see `attnwidget/analysis/thumbnails.py`. */

import type { Thumbnail } from "./codec.ts";
import type { Tokens } from "./manifest.ts";

interface Sides {
  readonly queries: Tokens;
  readonly keys: Tokens;
}

/** The first token of a pair's second text; null unless one text follows the other. */
export function splitOf({ segments, labels }: Tokens): number | null {
  const at = segments?.indexOf(1) ?? -1;
  if (!segments || at <= 0) return null;
  return segments.lastIndexOf(0) < at && at < labels.length ? at : null;
}

/** The range of cells of one text of the pair: no cell holds tokens of both. */
function cellsOf(tokens: Tokens, cells: number, text: string | undefined): [number, number] {
  const split = splitOf(tokens);
  if (split === null || text === undefined) return [0, cells];
  const { length } = tokens.labels;
  const share = Math.floor((2 * cells * split + length) / (2 * length));
  const first = Math.max(1, Math.min(cells - 1, share));
  return text === "a" ? [0, first] : [first, cells];
}

/** The cell of each token, of so many. */
export function cellsOfTokens(tokens: Tokens, cells: number): readonly number[] {
  const { length } = tokens.labels;
  const split = splitOf(tokens) ?? 0;
  const first = split && cellsOf(tokens, cells, "a")[1];
  return tokens.labels.map((_, at) => {
    const [token, count, start, own] =
      at < split ? [at, split, 0, first] : [at - split, length - split, first, cells - first];
    return start + Math.floor(((token + 1) * own - 1) / count);
  });
}

/** The chosen segments if a stack's thumbnails keep them apart; else "all". */
export function shownSegments<Segments extends string>(
  segments: Segments,
  { queries, keys }: Sides,
): Segments | "all" {
  // Cells hold tokens of a named segment and others.
  if (segments.includes(":")) return "all";
  return splitOf(queries) === null || splitOf(keys) === null ? "all" : segments;
}

/** @param segments the texts of the queries and of the keys, as "ab", or "all" */
export function cropped(
  thumbnail: Thumbnail,
  { queries, keys }: Sides,
  segments: string,
): Thumbnail {
  const [query, key] = segments === "all" ? [] : segments;
  const [top, bottom] = cellsOf(queries, thumbnail.rows, query);
  const [left, right] = cellsOf(keys, thumbnail.columns, key);
  const [rows, columns] = [bottom - top, right - left];
  const cut = (cells: Uint8Array) => {
    const out = new Uint8Array(rows * columns);
    for (let row = 0; row < rows; row++) {
      const start = (top + row) * thumbnail.columns + left;
      out.set(cells.subarray(start, start + columns), row * columns);
    }
    return out;
  };
  const { levels, less } = thumbnail;
  return { rows, columns, levels: cut(levels), ...(less && { less: cut(less) }) };
}
