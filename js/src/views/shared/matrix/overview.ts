/** A small overview of the whole matrix, in the corner between its labels. */

import { type Box, strokeBox } from "../../../painting/canvas.ts";
import type { Painter } from "../../../painting/painter.ts";
import type { Palette } from "../../../styles/palette.ts";
import type { Extent, Point, Viewport } from "./viewport.ts";

const GAP = 8;

/**
 * The box of the overview, from the first cell shown.
 *
 * @param side the side of the corner
 */
export function overviewBox({ rows, columns }: Extent, side: number): Box {
  const scale = (side - GAP - 2) / Math.max(rows, columns);
  const [width, height] = [Math.max(4, columns * scale), Math.max(4, rows * scale)];
  return [-GAP - width, -GAP - height, width, height];
}

/** The column (x) and row (y) at a point of the box; null outside of it. */
export function overviewPlace(
  [left, top, width, height]: Box,
  { rows, columns }: Extent,
  { x, y }: Point,
): Point | null {
  const [across, down] = [(x - left) / width, (y - top) / height];
  if (across < 0 || down < 0 || across > 1 || down > 1) return null;
  return { x: across * columns, y: down * rows };
}

/** @param image of the whole matrix */
export function paintOverview(
  painter: Painter,
  { border, accent }: Palette,
  [x, y, width, height]: Box,
  { rows, columns }: Extent,
  { cell, row, column, across, down }: Viewport,
  image: CanvasImageSource | null,
): void {
  painter.imageSmoothingEnabled = false;
  if (image) painter.drawImage(image, x, y, width, height);
  strokeBox(painter, [x, y, width, height], border, { out: 0.5 });
  const [perColumn, perRow] = [width / columns, height / rows];
  // Large enough to be visible.
  const [w, h] = [Math.max(5, (across / cell) * perColumn), Math.max(5, (down / cell) * perRow)];
  const left = Math.min(x + column * perColumn, x + width - w);
  const top = Math.min(y + row * perRow, y + height - h);
  strokeBox(painter, [left, top, w, h], accent, { line: 1.5 });
}
