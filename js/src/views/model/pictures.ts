/**
 * The pictures of all heads, on canvases of a few rows each.
 *
 * Browsers handle every canvas in or near sight with each change of the page. One per row would slow
 * down hovering in the opened head; those out of sight cost nothing (css/model.ts).
 */

import { canvasRatio, paintBox, paintCanvas } from "../../painting/canvas.ts";
import type { Paint, Painter } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import { inSlices } from "../../scheduling/slices.ts";
import type { ModelLayout } from "./layout.ts";

export type Pictures = ReturnType<typeof modelPictures>;

/** The most rows of a canvas. */
const ROWS = 4;

/** The canvas of the rows from `first` to before `end`. */
interface Piece {
  readonly first: number;
  readonly end: number;
  readonly canvas: HTMLCanvasElement;
}

export function modelPictures(
  rows: number,
  { pictures: width, rowPitch }: Pick<ModelLayout, "pictures" | "rowPitch">,
) {
  const element = el("div", { class: "thumbnails", "aria-hidden": "true" });
  let paints: readonly Paint[] = [];
  let pieces: readonly Piece[] = [];

  const height = ({ first, end }: Piece) => (end - first) * rowPitch;

  /** The upper end of a row in a piece, which may lie above it; at a whole pixel. */
  const topOf = (row: number, { first }: Piece, ratio: number) =>
    Math.round((row - first) * rowPitch * ratio) / ratio;

  function paintRow(row: number, piece: Piece, painter: Painter, ratio: number): void {
    painter.save();
    painter.translate(0, topOf(row, piece, ratio));
    paints[row]?.(painter, ratio);
    painter.restore();
  }

  /** The piece of these rows; a new one has the pixels that they have so far. */
  function pieceOf(first: number, end: number): Piece {
    const same = pieces.find((piece) => piece.first === first && piece.end === end);
    if (same) return same;
    const piece = { first, end, canvas: el("canvas") };
    const copy: Paint = (painter, ratio) => {
      for (const { first, canvas } of pieces) {
        const top = topOf(first, piece, ratio);
        painter.drawImage(canvas, 0, top, canvas.width / ratio, canvas.height / ratio);
      }
    };
    paintCanvas(piece.canvas, width, height(piece), copy, (painter, ratio) => {
      for (let row = first; row < end; row++) paintRow(row, piece, painter, ratio);
    });
    return piece;
  }

  /** Leave this space in CSS pixels below a row, and nowhere else; below none if it is null. */
  function setGap(below: number | null, space: number): void {
    const next: Piece[] = [];
    for (let first = 0, end = 1; end <= rows; end++) {
      if (end % ROWS && end !== rows && end - 1 !== below) continue;
      next.push(pieceOf(first, end));
      first = end;
    }
    for (const piece of pieces) if (!next.includes(piece)) piece.canvas.remove();
    pieces = next;
    // A canvas that is moved may flicker, so those that stay are left in their places.
    let place = element.firstElementChild;
    for (const { end, canvas } of pieces) {
      canvas.style.marginBottom = end - 1 === below ? `${space}px` : "";
      if (canvas === place) place = canvas.nextElementSibling;
      else element.insertBefore(canvas, place);
    }
  }
  setGap(null, 0);

  /** Paint a row once more. */
  function repaint(row: number): void {
    const piece = pieces.find(({ end }) => row < end) as Piece;
    const top = topOf(row, piece, canvasRatio(width, height(piece)));
    // Less than the pitch, which may be no whole number of pixels: the row below stays as it is.
    paintBox(piece.canvas, width, height(piece), [0, top, width, rowPitch - 1], (...to) =>
      paintRow(row, piece, ...to),
    );
  }

  return {
    element,
    setGap,
    repaint,
    /** Paint every row from its left upper corner. Returns a function that stops it. */
    fill(next: readonly Paint[]): () => void {
      paints = next;
      return inSlices(rows, repaint);
    },
  };
}
