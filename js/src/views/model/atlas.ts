/**
 * The pictures of all heads, on canvases of a few rows each.
 *
 * Browsers handle every canvas in or near sight with each change of the page. One per row would slow
 * down hovering in the opened head; those out of sight cost nothing (css/model.ts).
 */

import { untracked } from "@preact/signals-core";
import { paintCanvas } from "../../painting/canvas.ts";
import type { Paint } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import { inSlices } from "../../scheduling/slices.ts";
import type { ModelLayout } from "./layout.ts";

export interface Atlas {
  readonly element: HTMLElement;
  /** Paint every row from its left upper corner. Returns a function that stops it. */
  fill(paints: readonly Paint[]): () => void;
  /** Leave this space in CSS pixels below a row, and nowhere else. */
  part(below: number | null, space: number): void;
}

/** The most rows of a canvas. */
const ROWS = 4;

interface Piece {
  readonly first: number;
  readonly end: number;
  readonly canvas: HTMLCanvasElement;
}

export function modelAtlas(rows: number, { pictures, rowPitch }: ModelLayout): Atlas {
  const element = el("div", { class: "atlas", "aria-hidden": "true" });
  let paints: readonly Paint[] = [];
  let pieces: readonly Piece[] = [];

  const paint = ({ first, end, canvas }: Piece) =>
    paintCanvas(canvas, pictures, (end - first) * rowPitch, (painter, ratio) =>
      paints.slice(first, end).forEach((paint, row) => {
        painter.save();
        painter.translate(0, row * rowPitch);
        paint(painter, ratio);
        painter.restore();
      }),
    );

  function pieceOf(first: number, end: number): Piece {
    const same = pieces.find((piece) => piece.first === first && piece.end === end);
    if (same) return same;
    const piece = { first, end, canvas: el("canvas") };
    untracked(() => paint(piece));
    return piece;
  }

  function part(below: number | null, space: number): void {
    const ends = Array.from({ length: rows }, (_, row) => row + 1).filter(
      (end) => end % ROWS === 0 || end === rows || end - 1 === below,
    );
    pieces = ends.map((end, at) => pieceOf(ends[at - 1] ?? 0, end));
    for (const { end, canvas } of pieces)
      canvas.style.marginBottom = end - 1 === below ? `${space}px` : "";
    // A canvas that is inserted again may flicker.
    if (pieces.some(({ canvas }) => !canvas.isConnected))
      element.replaceChildren(...pieces.map(({ canvas }) => canvas));
  }
  part(null, 0);

  return {
    element,
    part,
    fill(next) {
      paints = next;
      // A canvas that comes later is painted as it comes.
      const all = pieces;
      return inSlices(all.length, (at) => paint(all[at]));
    },
  };
}
