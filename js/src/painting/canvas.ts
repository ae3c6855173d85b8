/** Canvases that can be painted once more, for a figure. */

import type { Paint, Painter } from "./painter.ts";

/** Safari draws nothing on a canvas with a longer side than this. */
const LONGEST = 16_384;

/** Canvas pixels per CSS pixel: as many as wanted, as far as browsers allow. */
export const canvasRatio = (width: number, height: number, wanted = devicePixelRatio): number =>
  Math.min(wanted, LONGEST / Math.max(width, height, 1));

const paints = new WeakMap<HTMLCanvasElement, Paint>();

/**
 * Paint a canvas of CSS size width x height at the screen's resolution.
 *
 * @param inFigures paints the same of other shapes, where those of the screen are not for a file.
 */
export function paintCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  paint: Paint,
  inFigures: Paint = paint,
): void {
  const ratio = canvasRatio(width, height);
  paint(openCanvas(canvas, width, height, ratio), ratio);
  paints.set(canvas, inFigures);
}

/** Let figures show what has yet to be painted on a canvas. */
export function paintInFigures(canvas: HTMLCanvasElement, paint: Paint): void {
  paints.set(canvas, paint);
}

/** Paint what a canvas shows, at (0, 0). */
export function repaint(canvas: HTMLCanvasElement, painter: Painter, ratio: number): void {
  paints.get(canvas)?.(painter, ratio);
}

/** The same as one picture, where there are more shapes than can be told apart. */
export const asPicture =
  (width: number, height: number, paint: Paint): Paint =>
  (painter, ratio) => {
    const canvas = document.createElement("canvas");
    paint(openCanvas(canvas, width, height, ratio), ratio);
    painter.drawImage(canvas, 0, 0, width, height);
  };

/** An empty canvas with so many pixels per CSS pixel. */
function openCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
): CanvasRenderingContext2D {
  // This clears it, too, and is no more work than that where its size stays.
  canvas.width = Math.max(1, Math.round(width * ratio));
  const down = Math.max(1, Math.round(height * ratio));
  if (canvas.height !== down) canvas.height = down;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
