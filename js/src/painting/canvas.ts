/** Canvases that keep their paint function, so that figures can paint them again. */

import type { Paint, Painter } from "./painter.ts";

/** The longest side of a canvas that Safari draws. */
const LONGEST = 16_384;

/** Canvas pixels per CSS pixel: the wanted ratio, or the largest that browsers allow. */
export const canvasRatio = (width: number, height: number, wanted = devicePixelRatio): number =>
  Math.min(wanted, LONGEST / Math.max(width, height, 1));

const paints = new WeakMap<HTMLCanvasElement, Paint>();

/**
 * Paint a canvas of CSS size width x height at the screen's resolution.
 *
 * @param inFigures paints the canvas in figures, where `paint` is not fit for a file.
 */
export function paintCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  paint: Paint,
  inFigures: Paint = paint,
): void {
  const ratio = canvasRatio(width, height);
  const context = openCanvas(canvas, width, height, ratio);
  context.save();
  paint(context, ratio);
  context.restore();
  paints.set(canvas, inFigures);
}

/** Set what figures show of a canvas that is not painted yet. */
export function paintInFigures(canvas: HTMLCanvasElement, paint: Paint): void {
  paints.set(canvas, paint);
}

/** Paint the content of a canvas at (0, 0). */
export function repaint(canvas: HTMLCanvasElement, painter: Painter, ratio: number): void {
  paints.get(canvas)?.(painter, ratio);
}

/** Paint as a single bitmap, for drawings of too many shapes. */
export const asPicture =
  (width: number, height: number, paint: Paint): Paint =>
  (painter, ratio) => {
    const canvas = document.createElement("canvas");
    paint(openCanvas(canvas, width, height, ratio), ratio);
    painter.drawImage(canvas, 0, 0, width, height);
  };

/** A canvas with the pixels of an image. */
export function imageCanvas(image: ImageData): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/** Resize and clear a canvas, for `ratio` pixels per CSS pixel. */
function openCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
): CanvasRenderingContext2D {
  const across = Math.max(1, Math.round(width * ratio));
  const down = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
  } else {
    // Setting a size, even the same one, would allocate new memory.
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, across, down);
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
