/** One head's pooled matrix, painted small, in the shape of the matrix. */

import type { Thumbnail } from "../data/codec.ts";
import type { StackInfo } from "../data/manifest.ts";
import { el } from "../parts/dom.ts";
import { type Palette, rgb } from "../theme.ts";

/** Left and top edge, width and height. */
export type Box = readonly [x: number, y: number, width: number, height: number];

/** Width by height of a stack's matrices, within what can still be seen when it is small. */
export function aspectOf({ queries, keys }: StackInfo): number {
  return Math.min(Math.max(keys.labels.length / queries.labels.length, 1 / 3), 3);
}

export function paintThumbnail(
  target: CanvasRenderingContext2D,
  { rows, columns, levels }: Thumbnail,
  box: Box,
  color: string,
  palette: Palette,
): void {
  const pixels = new ImageData(columns, rows);
  const ink = rgb(color);
  levels.forEach((level, n) => {
    pixels.data.set(ink, n * 4);
    pixels.data[n * 4 + 3] = level * 17;
  });
  const buffer = el("canvas", { width: columns, height: rows });
  buffer.getContext("2d")?.putImageData(pixels, 0, 0);
  target.save();
  target.beginPath();
  target.roundRect(...box, Math.min(5, box[2] / 10, box[3] / 10));
  target.fillStyle = palette.paper;
  target.fill();
  target.clip();
  target.imageSmoothingEnabled = false;
  target.drawImage(buffer, ...box);
  target.restore();
}
