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
  paintBox(canvas, width, height, [0, 0, width, height], paint);
  paints.set(canvas, inFigures);
}

/** Left, top, width and height. */
export type Box = readonly [x: number, y: number, width: number, height: number];

/** Stroke the edge of a box that is `out` CSS pixels larger on each side. */
export function strokeBox(
  painter: Painter,
  [x, y, width, height]: Box,
  color: string,
  { out = 0, line = 1, dash = [] as number[] } = {},
): void {
  painter.strokeStyle = color;
  painter.lineWidth = line;
  painter.setLineDash(dash);
  painter.strokeRect(x - out, y - out, width + 2 * out, height + 2 * out);
  painter.setLineDash([]);
}

/** Paint a box of a canvas of CSS size width x height anew, and leave the rest of it. */
export function paintBox(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  box: Box,
  paint: Paint,
): void {
  const ratio = canvasRatio(width, height);
  const context = sizedCanvas(canvas, width, height, ratio);
  context.clearRect(...box);
  context.save();
  paint(context, ratio);
  context.restore();
}

const parts = new WeakMap<HTMLCanvasElement, Box>();

/**
 * Paint only a part of a canvas of CSS size width x height, in place of the part painted before.
 *
 * @param box encloses all that is painted; null for nothing
 */
export function paintPart(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  box: Box | null,
  paint: Paint,
): void {
  const ratio = canvasRatio(width, height);
  const context = sizedCanvas(canvas, width, height, ratio);
  // Browsers show a small change sooner than a large one.
  const before = parts.get(canvas);
  if (before) {
    const [x, y, across, down] = before;
    // With a pixel around it, since a part of a pixel cannot be cleared.
    context.clearRect(x - 1, y - 1, across + 2, down + 2);
  }
  if (box) {
    parts.set(canvas, box);
    paintBox(canvas, width, height, box, paint);
  } else parts.delete(canvas);
  paints.set(canvas, box ? paint : () => {});
}

/**
 * Show pixels in a canvas of CSS size width x height.
 *
 * @param inFigures paints the canvas in figures; the pixels if it is missing
 */
export function showPixels(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  image: ImageData,
  inFigures: Paint = (painter) => painter.drawImage(canvas, 0, 0, width, height),
): void {
  const context = resized(canvas, width, height, image.width, image.height);
  context.putImageData(image, 0, 0);
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

/** A canvas with the pixels of an image. */
export function imageCanvas(image: ImageData): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/** Resize a canvas, for `ratio` pixels per CSS pixel, which clears it if its size changes. */
function sizedCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
): CanvasRenderingContext2D {
  const pixels = (length: number) => Math.max(1, Math.round(length * ratio));
  const context = resized(canvas, width, height, pixels(width), pixels(height));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function resized(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  across: number,
  down: number,
): CanvasRenderingContext2D {
  // Setting a size, even the same one, would allocate new memory.
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
    parts.delete(canvas);
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return canvas.getContext("2d") as CanvasRenderingContext2D;
}
