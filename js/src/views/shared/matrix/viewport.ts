/** The viewport of a matrix: which part is shown, and how large. */

import type { Zoom } from "../../../state/state.ts";

/** The number of rows and columns, and the space for the longer side in CSS pixels. */
export interface Extent {
  readonly rows: number;
  readonly columns: number;
  readonly available: number;
}

export interface Viewport {
  /** The side of a cell, in CSS pixels. */
  readonly cell: number;
  /** The first row and column shown; fractions are cut off. */
  readonly row: number;
  readonly column: number;
  /** The size of the viewport, in CSS pixels. */
  readonly across: number;
  readonly down: number;
  /** True if the whole matrix is shown. */
  readonly isWhole: boolean;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A range from `first` to before `end`. */
export interface Span {
  readonly first: number;
  readonly end: number;
}

export const LARGEST_CELL = 28;

const smallest = ({ rows, columns, available }: Extent) =>
  Math.min(LARGEST_CELL, available / Math.max(rows, columns));

/** @param zoom of any matrix; ignored if it has another size */
export function viewportOf(extent: Extent, zoom: Zoom | null): Viewport {
  const { rows, columns, available } = extent;
  const matching = zoom?.rows === rows && zoom.columns === columns ? zoom : null;
  const fit = smallest(extent);
  const cell = matching ? Math.min(LARGEST_CELL, Math.max(fit, available / matching.span)) : fit;
  // The shorter side grows until it fills the space, too.
  const [across, down] = [Math.min(columns * cell, available), Math.min(rows * cell, available)];
  const row = Math.max(0, Math.min(matching?.row ?? 0, rows - down / cell));
  const column = Math.max(0, Math.min(matching?.column ?? 0, columns - across / cell));
  return { cell, row, column, across, down, isWhole: cell <= fit };
}

/** Zoom by a factor around a point, in CSS pixels. */
export function zoomed(extent: Extent, viewport: Viewport, factor: number, x: number, y: number) {
  const cell = Math.min(LARGEST_CELL, viewport.cell * factor);
  if (cell <= smallest(extent)) return null;
  return {
    rows: extent.rows,
    columns: extent.columns,
    row: viewport.row + y / viewport.cell - y / cell,
    column: viewport.column + x / viewport.cell - x / cell,
    span: extent.available / cell,
  };
}

export function moved(
  extent: Extent,
  viewport: Viewport,
  rows: number,
  columns: number,
): Zoom | null {
  const [row, column] = [viewport.row + rows, viewport.column + columns];
  return zoomed(extent, { ...viewport, row, column }, 1, 0, 0);
}

/** Centre a place, counted in rows and columns. */
export function centred(
  extent: Extent,
  viewport: Viewport,
  row: number,
  column: number,
): Zoom | null {
  const { cell, across, down } = viewport;
  const [rows, columns] = [row - down / cell / 2, column - across / cell / 2];
  return moved(extent, viewport, rows - viewport.row, columns - viewport.column);
}

/** The rounding error of a computed fraction. */
const NEARLY = 1e-6;

/** The rows and columns that are at least partly visible. */
export const rowsOf = ({ row, down, cell }: Viewport): Span => span(row, down / cell);
export const columnsOf = ({ column, across, cell }: Viewport): Span => span(column, across / cell);

function span(from: number, count: number): Span {
  const first = Math.floor(from + NEARLY);
  return { first, end: Math.ceil(from + count - NEARLY) };
}
