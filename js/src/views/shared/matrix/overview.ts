/** A small overview of the whole matrix, in the corner between its labels. */

import type { Painter } from "../../../painting/painter.ts";
import type { Palette } from "../../../styles/palette.ts";
import type { Extent, Point, Viewport } from "./viewport.ts";

/** A box in CSS pixels from the first cell shown, above and to the left of it. */
export interface Corner {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const GAP = 8;

/** @param side the side of the corner */
export function overviewBox({ rows, columns }: Extent, side: number): Corner {
  const scale = (side - GAP - 2) / Math.max(rows, columns);
  const [width, height] = [Math.max(4, columns * scale), Math.max(4, rows * scale)];
  return { x: -GAP - width, y: -GAP - height, width, height };
}

/** The column (x) and row (y) at a point of the box; null outside of it. */
export function overviewPlace(
  box: Corner,
  { rows, columns }: Extent,
  { x, y }: Point,
): Point | null {
  const [across, down] = [(x - box.x) / box.width, (y - box.y) / box.height];
  if (across < 0 || down < 0 || across > 1 || down > 1) return null;
  return { x: across * columns, y: down * rows };
}

/** @param image of the whole matrix */
export function paintOverview(
  painter: Painter,
  { border, accent }: Palette,
  { x, y, width, height }: Corner,
  { rows, columns }: Extent,
  { cell, row, column, across, down }: Viewport,
  image: CanvasImageSource | null,
): void {
  painter.imageSmoothingEnabled = false;
  if (image) painter.drawImage(image, x, y, width, height);
  painter.lineWidth = 1;
  painter.strokeStyle = border;
  painter.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
  const [perColumn, perRow] = [width / columns, height / rows];
  // Large enough to be visible.
  const [w, h] = [Math.max(5, (across / cell) * perColumn), Math.max(5, (down / cell) * perRow)];
  const left = Math.min(x + column * perColumn, x + width - w);
  const top = Math.min(y + row * perRow, y + height - h);
  painter.strokeStyle = accent;
  painter.lineWidth = 1.5;
  painter.strokeRect(left, top, w, h);
}
