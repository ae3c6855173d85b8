/** Paints the cross-hair of a matrix, and markers for places outside of the viewport. */

import type { Box } from "../../../painting/canvas.ts";
import type { Painter } from "../../../painting/painter.ts";
import type { Palette } from "../../../styles/palette.ts";
import type { Viewport } from "./viewport.ts";

/** The least cell for a bold cross-hair, which would cover smaller ones. */
const BOLD_FROM = 6;
const MARK = 5;

/**
 * The cross-hair on some rows and columns, with markers for those outside of the viewport: how to
 * paint it, and the box around it, from the first cell shown; null if there is none.
 */
export function crossHair(
  { cell, row, column, across, down }: Viewport,
  rows: readonly number[],
  columns: readonly number[],
  { accent, background }: Palette,
): { readonly box: Box; readonly paint: (painter: Painter) => void } | null {
  if (!rows.length && !columns.length) return null;
  const tops = rows.map((at) => (at - row) * cell);
  const lefts = columns.map((at) => (at - column) * cell);
  const edge = 2 * MARK + 2;
  /** From the first to the last of these cells, or to the edge with their marker. */
  const extent = (starts: readonly number[], length: number) => [
    Math.min(...starts, length),
    Math.max(...starts.map((start) => start + cell), 0),
  ];
  // Rows are as wide as the viewport, and columns as high.
  const [top, bottom] = lefts.length ? [0, down] : extent(tops, down);
  const [left, right] = tops.length ? [0, across] : extent(lefts, across);
  const box = [left - edge, top - edge, right - left + 2 * edge, bottom - top + 2 * edge] as const;
  return { box, paint };

  function paint(painter: Painter): void {
    painter.save();
    painter.beginPath();
    // Half of a line lies outside of the cells that it frames.
    painter.rect(-1, -1, across + 2, down + 2);
    painter.clip();
    painter.strokeStyle = accent;
    painter.lineWidth = cell < BOLD_FROM ? 1 : 2;
    for (const top of tops) painter.strokeRect(0, top, across, cell);
    for (const left of lefts) painter.strokeRect(left, 0, cell, down);
    painter.restore();

    /** Paint a triangle on the edge that points outwards. */
    const mark = (x: number, y: number, turn: number) => {
      painter.save();
      painter.translate(x, y);
      painter.rotate(turn);
      painter.beginPath();
      painter.moveTo(0, 0);
      painter.lineTo(-2 * MARK, -MARK);
      painter.lineTo(-2 * MARK, MARK);
      painter.closePath();
      painter.fillStyle = accent;
      painter.strokeStyle = background;
      painter.lineWidth = 2;
      painter.stroke();
      painter.fill();
      painter.restore();
    };
    const inside = (places: readonly number[], length: number) =>
      places.find((place) => place > -cell / 2 && place < length - cell / 2);
    const x = (inside(lefts, across) ?? across / 2) + cell / 2;
    const y = (inside(tops, down) ?? down / 2) + cell / 2;
    if (tops.some((top) => top <= -cell)) mark(x, 0, -Math.PI / 2);
    if (tops.some((top) => top >= down)) mark(x, down, Math.PI / 2);
    if (lefts.some((left) => left <= -cell)) mark(0, y, Math.PI);
    if (lefts.some((left) => left >= across)) mark(across, y, 0);
  }
}
