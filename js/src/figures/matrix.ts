/** A head's weights as a matrix, with the names of its rows and columns. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { Palette } from "../styles/theme.ts";
import type { Axes, Axis, Look } from "../views/shared/axes.ts";
import type { Span } from "../views/shared/matrix/part.ts";
import { groupsOf, pooledBounds } from "./lines.ts";
import type { Layout } from "./scene.ts";
import { mixed, shorten, textWidth } from "./text.ts";

const ROOM = 470;
const LARGEST_CELL = 26;
/** Names of all need cells at least this large; else there are places, this far apart at least. */
const NAMES_FROM = 10;
const TICKS_APART = 24;
const LABELS = 80;
const PLACES = 48;
const TITLE = 14;
const TOP = 26;
/** Cells along a side of the picture, at the most. */
const MOST_CELLS = 400;

/** The rows and columns of the part that is zoomed to. */
export interface Zoomed {
  readonly rows: Span;
  readonly columns: Span;
}

/** Draws it from a place on; returns the width and height that it takes. */
export function matrixFigure(
  layout: Layout,
  palette: Palette,
  axes: Axes,
  matrix: AttentionMatrix,
  title: string,
  look: Look,
  zoomed: Zoomed | null,
): [number, number] {
  const queries = axes.query.shown.slice(zoomed?.rows.first, zoomed?.rows.end);
  const keys = axes.key.shown.slice(zoomed?.columns.first, zoomed?.columns.end);
  const [top, left] = [zoomed?.rows.first ?? 0, zoomed?.columns.first ?? 0];
  const most = Math.max(queries.length, keys.length);
  const cell = Math.min(LARGEST_CELL, ROOM / most);
  const room = cell >= NAMES_FROM ? LABELS : PLACES;
  const [across, down] = [keys.length * cell, queries.length * cell];
  layout.text(0, TITLE / 2, title, TITLE, palette.text, { bold: true });
  const group = Math.ceil(most / MOST_CELLS);
  const part = zoomed
    ? `queries ${queries[0]}–${queries.at(-1)} · keys ${keys[0]}–${keys.at(-1)}`
    : "rows: queries · columns: keys";
  const pooling = group > 1 ? ` · each cell the largest of up to ${group} × ${group}` : "";
  const note = `${part} · shade: √weight${pooling}`;
  layout.text(0, TOP + 4, note, 12, palette.muted);

  const cells = layout.at(room, TOP + 16 + room);
  const [columns, largest] = pooled(matrix, queries, keys);
  const shades = Array.from(largest, (weight) =>
    // Weights that were only recorded may exceed 1.
    mixed(palette.background, palette.ink, Math.sqrt(Math.min(1, weight))),
  );
  cells.cells(0, 0, across, down, columns, shades.join(""));
  const inside = (places: readonly number[], first: number, count: number) =>
    places.map((at) => at - first).filter((at) => at >= 0 && at < count);
  for (const at of inside(axes.query.borders, top, queries.length))
    cells.rect(0, at * cell - 0.5, across, 1, { fill: palette.muted });
  for (const at of inside(axes.key.borders, left, keys.length))
    cells.rect(at * cell - 0.5, 0, 1, down, { fill: palette.muted });
  cells.rect(-0.5, -0.5, across + 1, down + 1, { stroke: palette.border });
  names(cells, axes.query, queries, cell, room, palette);
  names(cells, axes.key, keys, cell, room, palette);
  const frame = { stroke: palette.accent, line: cell < 6 ? 1 : 2 };
  const placed = ({ places }: Axis, units: readonly number[]) => units.map((unit) => places[unit]);
  for (const at of inside(placed(axes.query, look.query), top, queries.length))
    cells.rect(0, at * cell, across, cell, frame);
  for (const at of inside(placed(axes.key, look.key), left, keys.length))
    cells.rect(at * cell, 0, cell, down, frame);
  const width = Math.max(room + across, textWidth(note, 12), textWidth(title, TITLE, true));
  return [width, TOP + 16 + room + down];
}

/** How many columns, and the largest weight of each cell. */
function pooled(matrix: AttentionMatrix, queries: readonly number[], keys: readonly number[]) {
  const rowOf = groupsOf(pooledBounds(queries.length, MOST_CELLS));
  const keyOf = groupsOf(pooledBounds(keys.length, MOST_CELLS));
  const columns = Math.min(keys.length, MOST_CELLS);
  const largest = new Float32Array(Math.min(queries.length, MOST_CELLS) * columns);
  queries.forEach((query, row) => {
    const weights = matrix.row(query, true);
    keys.forEach((key, at) => {
      const cell = rowOf[row] * columns + keyOf[at];
      if (weights[key] > largest[cell]) largest[cell] = weights[key];
    });
  });
  return [columns, largest] as const;
}

/** The name of every row or column, or the places of some. */
function names(
  cells: Layout,
  { side, units }: Axis,
  shown: readonly number[],
  cell: number,
  room: number,
  palette: Palette,
): void {
  const every = cell >= NAMES_FROM ? 1 : roundStep(TICKS_APART / cell);
  const size = cell >= NAMES_FROM ? Math.min(12, cell * 0.85) : 11;
  shown.forEach((unit, at) => {
    if (every > 1 && unit % every) return;
    const name = every > 1 ? `${unit}` : shorten(units.labels[unit], room - 10, size);
    const middle = (at + 0.5) * cell;
    if (side === "query") cells.text(-6, middle, name, size, palette.muted, { anchor: "end" });
    else cells.text(middle, -6, name, size, palette.muted, { turned: true });
  });
}

/** The smallest of 1, 2, 5, 10, 20, … that is not less. */
function roundStep(least: number): number {
  const power = least > 1 ? 10 ** Math.floor(Math.log10(least)) : 1;
  return [1, 2, 5, 10].map((n) => power * n).find((step) => step >= least) as number;
}
