/** Crops thumbnails to the chosen segments: see `attnwidget/analysis/thumbnails.py`. */

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

/**
 * The range of cells of one text of the pair, "a" or "b", of which no cell holds tokens of both, or
 * of the tokens of a named segment, as "1-5".
 */
function cellsOf(tokens: Tokens, cells: number, part: string | undefined): [number, number] {
  if (part?.includes("-")) {
    const within = cellsOfTokens(tokens, cells).slice(...ends(part));
    return within.length ? [within[0], within[within.length - 1] + 1] : [0, cells];
  }
  const split = splitOf(tokens);
  if (split === null || part === undefined) return [0, cells];
  const { length } = tokens.labels;
  const share = Math.floor((2 * cells * split + length) / (2 * length));
  const first = Math.max(1, Math.min(cells - 1, share));
  return part === "a" ? [0, first] : [first, cells];
}

const ends = (span: string) => span.split("-").map(Number) as [start: number, end: number];

/** The parts of queries and of keys: of a pair, or the tokens of a named segment. */
function partsOf(segments: string): readonly (string | undefined)[] {
  const [way, span] = segments.split(":");
  if (span) return way === "from" ? [span] : [undefined, span];
  return segments === "all" ? [] : [...segments];
}

/** True if cells at the ends of a named segment hold other tokens, too. */
export function sharesCells(
  { rows, columns }: Pick<Thumbnail, "rows" | "columns">,
  { queries, keys }: Sides,
  segments: string,
): boolean {
  const [query, key] = partsOf(segments);
  const shared = (tokens: Tokens, cells: number, part: string | undefined) => {
    if (!part?.includes("-")) return false;
    const of = cellsOfTokens(tokens, cells);
    return ends(part).some((at) => of[at] !== undefined && of[at] === of[at - 1]);
  };
  return shared(queries, rows, query) || shared(keys, columns, key);
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
  if (segments.includes(":")) return segments;
  return splitOf(queries) === null || splitOf(keys) === null ? "all" : segments;
}

/** @param segments as in `Choices` */
export function cropped(
  thumbnail: Thumbnail,
  { queries, keys }: Sides,
  segments: string,
): Thumbnail {
  const [query, key] = partsOf(segments);
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
