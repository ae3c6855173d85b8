/** One head's pooled matrix, painted as a small square. */

import type { Thumbnail } from "../data/codec.ts";
import { el } from "../parts/dom.ts";
import { type Palette, rgb } from "../theme.ts";

export function paintThumbnail(
  target: CanvasRenderingContext2D,
  { rows, columns, levels }: Thumbnail,
  x: number,
  y: number,
  size: number,
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
  target.roundRect(x, y, size, size, Math.min(5, size / 10));
  target.fillStyle = palette.paper;
  target.fill();
  target.clip();
  target.imageSmoothingEnabled = false;
  target.drawImage(buffer, x, y, size, size);
  target.restore();
}
