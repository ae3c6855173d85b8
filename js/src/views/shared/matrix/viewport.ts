/** Which part of a matrix is shown, and how large. */

import type { Zoom } from "../../../state/state.ts";

/** What there is to show, and the room for it: the longer side's, in CSS pixels. */
export interface Extent {
  readonly rows: number;
  readonly columns: number;
  readonly available: number;
}

export interface Viewport {
  /** Side of a cell, in CSS pixels. */
  readonly cell: number;
  /** The first row and column, of which a fraction may be cut off. */
  readonly row: number;
  readonly column: number;
  /** Size of what is shown, in CSS pixels. */
  readonly across: number;
  readonly down: number;
  /** Whether it is all there is. */
  readonly isWhole: boolean;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** From `first` up to `end`, which is not in it. */
export interface Span {
  readonly first: number;
  readonly end: number;
}

export const LARGEST_CELL = 28;

const smallest = ({ rows, columns, available }: Extent) =>
  Math.min(LARGEST_CELL, available / Math.max(rows, columns));

/** @param zoom of this matrix, or of another one, which is none of this. */
export function viewportOf(extent: Extent, zoom: Zoom | null): Viewport {
  const { rows, columns, available } = extent;
  const matching = zoom?.rows === rows && zoom.columns === columns ? zoom : null;
  const fit = smallest(extent);
  const cell = matching ? Math.min(LARGEST_CELL, Math.max(fit, available / matching.span)) : fit;
  // A side with few cells grows until it, too, takes all the room.
  const [across, down] = [Math.min(columns * cell, available), Math.min(rows * cell, available)];
  const row = Math.max(0, Math.min(matching?.row ?? 0, rows - down / cell));
  const column = Math.max(0, Math.min(matching?.column ?? 0, columns - across / cell));
  return { cell, row, column, across, down, isWhole: cell <= fit };
}

/** Cells larger by a factor, while what is at a place, in CSS pixels, stays there. */
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

/** As large, but so many rows and columns further on. */
export function moved(
  extent: Extent,
  viewport: Viewport,
  rows: number,
  columns: number,
): Zoom | null {
  const [row, column] = [viewport.row + rows, viewport.column + columns];
  return zoomed(extent, { ...viewport, row, column }, 1, 0, 0);
}

/** As large, with this place, counted in rows and columns, in the middle. */
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

/** What a computed fraction may be off by. */
const NEARLY = 1e-6;

/** The rows of which at least a part is shown. */
export const rowsOf = ({ row, down, cell }: Viewport): Span => span(row, down / cell);
export const columnsOf = ({ column, across, cell }: Viewport): Span => span(column, across / cell);

function span(from: number, count: number): Span {
  const first = Math.floor(from + NEARLY);
  return { first, end: Math.ceil(from + count - NEARLY) };
}
