/** Paints a matrix: its cells, labels, and the borders between the texts of a pair. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { type AttentionMatrix, isSigned } from "../../../data/attention-matrix.ts";
import { type Box, imageCanvas } from "../../../painting/canvas.ts";
import type { Painter } from "../../../painting/painter.ts";
import { type Palette, rgb } from "../../../styles/palette.ts";
import type { Axes } from "../axes.ts";
import { axisNames, NAMES_FROM } from "./names.ts";
import { paintOverview } from "./overview.ts";
import { type Pixels, pooled, type Tile, type Tiles } from "./tiles.ts";
import type { Extent, Viewport } from "./viewport.ts";

export interface PlotOptions {
  readonly axes: Axes;
  readonly matrix: ReadonlySignal<AttentionMatrix>;
  readonly palette: ReadonlySignal<Palette>;
  readonly tiles: Tiles;
  /** The space for the labels of rows, and of columns. */
  readonly left: number;
  readonly top: number;
  readonly overview: Box;
  readonly extent: Extent;
}

/** Returns a function that paints a viewport, its first cell at (0, 0). It reads signals. */
export function matrixPlot(options: PlotOptions): (painter: Painter, viewport: Viewport) => void {
  const { axes, matrix, palette, tiles, left, top } = options;
  const names = { query: axisNames(axes.query, left), key: axisNames(axes.key, top) };
  const painted = ({ matrix }: Tile, pixels: Pixels) =>
    image(pixels, palette.value, tiles.peak.value, isSigned(matrix));
  const imageOf = (tile: ReadonlySignal<Tile | null>) =>
    computed(() => tile.value && painted(tile.value, tile.value));
  const [whole, sharp] = [imageOf(tiles.whole), imageOf(tiles.sharp)];
  const [, , width, height] = options.overview;
  const small = computed(() => {
    const all = tiles.whole.value;
    return all && painted(all, pooled(all, Math.ceil(width), Math.ceil(height)));
  });

  function paintCells(painter: Painter, viewport: Viewport): void {
    const [below, above] = [tiles.whole.value, viewport.isWhole ? null : tiles.sharp.value];
    painter.imageSmoothingEnabled = false;
    // The picture of another head stays until there is one of this head.
    const outdated = above?.matrix === matrix.value && below?.matrix !== matrix.value;
    const fresh = above?.matrix === matrix.value || below?.matrix !== matrix.value;
    const covered = above && sharp.value && fresh ? placeOf(above, viewport) : null;
    if (below && whole.value && !outdated && !(covered && isAll(covered, viewport))) {
      painter.drawImage(whole.value, ...placeOf(below, viewport));
    }
    if (!covered || !sharp.value) return;
    // The sharper picture is translucent.
    painter.fillStyle = palette.value.background;
    painter.fillRect(...covered);
    painter.drawImage(sharp.value, ...covered);
  }

  return (painter, viewport) => {
    const { cell, row, column, across, down } = viewport;
    painter.save();
    painter.beginPath();
    painter.rect(0, 0, across, down);
    painter.clip();
    paintCells(painter, viewport);
    painter.fillStyle = palette.value.muted;
    for (const at of axes.query.borders) painter.fillRect(0, (at - row) * cell - 0.5, across, 1);
    for (const at of axes.key.borders) painter.fillRect((at - column) * cell - 0.5, 0, 1, down);
    painter.restore();
    painter.strokeStyle = palette.value.border;
    painter.strokeRect(-0.5, -0.5, across + 1, down + 1);
    const every = cell >= NAMES_FROM;
    if (left) names.query(painter, palette.value, cell, row, down);
    if (every || left) {
      painter.save();
      painter.rotate(-Math.PI / 2);
      names.key(painter, palette.value, cell, column, across);
      painter.restore();
    }
    if (viewport.isWhole) return;
    paintOverview(painter, palette.value, options.overview, options.extent, viewport, small.value);
  };
}

const placeOf = ({ rows, columns }: Tile, { cell, row, column }: Viewport): Box => [
  (columns.first - column) * cell,
  (rows.first - row) * cell,
  (columns.end - columns.first) * cell,
  (rows.end - rows.first) * cell,
];

/** True if a box covers the viewport. */
const isAll = ([x, y, width, height]: Box, { across, down }: Viewport) =>
  x <= 0 && y <= 0 && x + width >= across && y + height >= down;

/** @param peak the weight that has the full shade */
function image(
  { width, height, largest }: Pixels,
  palette: Palette,
  peak: number,
  signed: boolean,
): HTMLCanvasElement {
  const pixels = new ImageData(width, height);
  const { data } = pixels;
  const { dark } = palette;
  // On a dark background, middle shades by opacity are too dark to see. These lie between means of
  // numbers and of light, with the same ends.
  const parts = (color: string) => rgb(color).map((part) => (dark ? part ** 1.5 : part));
  const more = parts(signed ? palette.positive : palette.ink);
  const less = parts(palette.negative);
  const below = parts(palette.background);
  for (let at = 0, to = 0; at < largest.length; at++, to += 4) {
    const value = largest[at];
    const ink = value < 0 ? less : more;
    // The square root, as in the thumbnails, since most weights are small.
    const shade = Math.sqrt(Math.abs(value) / peak);
    for (let n = 0; n < 3; n++) {
      data[to + n] = dark ? Math.cbrt(below[n] + shade * (ink[n] - below[n])) ** 2 : ink[n];
    }
    data[to + 3] = dark ? 255 : 255 * shade;
  }
  return imageCanvas(pixels);
}
