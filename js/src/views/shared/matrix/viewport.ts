/** Which part of a matrix is shown, and how large. */

import type { Zoom } from "../../../state/state.ts";

/** What there is to show, and the room for it: the longer side's, in CSS pixels. */
export interface Whole {
  readonly rows: number;
  readonly columns: number;
  readonly room: number;
}

export interface Part {
  /** Side of a cell, in CSS pixels. */
  readonly cell: number;
  /** The first row and column, of which a fraction may be cut off. */
  readonly row: number;
  readonly column: number;
  /** Size of what is shown, in CSS pixels. */
  readonly across: number;
  readonly down: number;
  /** Whether it is all there is. */
  readonly whole: boolean;
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

const smallest = ({ rows, columns, room }: Whole) =>
  Math.min(LARGEST_CELL, room / Math.max(rows, columns));

/** @param zoom of this matrix, or of another one, which is none of this. */
export function partOf(whole: Whole, zoom: Zoom | null): Part {
  const { rows, columns, room } = whole;
  const own = zoom?.rows === rows && zoom.columns === columns ? zoom : null;
  const fit = smallest(whole);
  const cell = own ? Math.min(LARGEST_CELL, Math.max(fit, room / own.span)) : fit;
  // A side with few cells grows until it, too, takes all the room.
  const [across, down] = [Math.min(columns * cell, room), Math.min(rows * cell, room)];
  const row = Math.max(0, Math.min(own?.row ?? 0, rows - down / cell));
  const column = Math.max(0, Math.min(own?.column ?? 0, columns - across / cell));
  return { cell, row, column, across, down, whole: cell <= fit };
}

/** Cells larger by a factor, while what is at a place, in CSS pixels, stays there. */
export function zoomed(whole: Whole, part: Part, factor: number, x: number, y: number) {
  const cell = Math.min(LARGEST_CELL, part.cell * factor);
  if (cell <= smallest(whole)) return null;
  return {
    rows: whole.rows,
    columns: whole.columns,
    row: part.row + y / part.cell - y / cell,
    column: part.column + x / part.cell - x / cell,
    span: whole.room / cell,
  };
}

/** As large, but so many rows and columns further on. */
export function moved(whole: Whole, part: Part, rows: number, columns: number): Zoom | null {
  const [row, column] = [part.row + rows, part.column + columns];
  return zoomed(whole, { ...part, row, column }, 1, 0, 0);
}

/** As large, with this place, counted in rows and columns, in the middle. */
export function centred(whole: Whole, part: Part, row: number, column: number): Zoom | null {
  const { cell, across, down } = part;
  const [rows, columns] = [row - down / cell / 2, column - across / cell / 2];
  return moved(whole, part, rows - part.row, columns - part.column);
}

/** What a computed fraction may be off by. */
const NEARLY = 1e-6;

/** The rows of which at least a part is shown. */
export const rowsOf = ({ row, down, cell }: Part): Span => span(row, down / cell);
export const columnsOf = ({ column, across, cell }: Part): Span => span(column, across / cell);

function span(from: number, count: number): Span {
  const first = Math.floor(from + NEARLY);
  return { first, end: Math.ceil(from + count - NEARLY) };
}
