/** The picture of a matrix: its cells, what they are called, and where one text of a pair ends. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../../data/attention-matrix.ts";
import { el } from "../../../parts/dom.ts";
import { type Palette, rgb } from "../../../styles/theme.ts";
import type { Axes } from "../axes.ts";
import { axisNames, NAMES_FROM } from "./names.ts";
import { type Box, paintOverview } from "./overview.ts";
import type { Part, Whole } from "./part.ts";
import { type Pixels, pooled, type Tile, type Tiles } from "./tiles.ts";

export interface PlotOptions {
  readonly axes: Axes;
  readonly matrix: ReadonlySignal<AttentionMatrix>;
  readonly palette: ReadonlySignal<Palette>;
  readonly tiles: Tiles;
  /** What there is for the names of rows, and of columns. */
  readonly left: number;
  readonly top: number;
  readonly overview: Box;
  readonly whole: Whole;
}

/** Paints a part, its first cell at (0, 0); reads signals. */
export function matrixPlot(
  options: PlotOptions,
): (target: CanvasRenderingContext2D, part: Part) => void {
  const { axes, matrix, palette, tiles, left, top } = options;
  const names = { query: axisNames(axes.query, left), key: axisNames(axes.key, top) };
  const imageOf = (tile: ReadonlySignal<Tile | null>) =>
    computed(() => tile.value && image(tile.value, palette.value));
  const [whole, sharp] = [imageOf(tiles.whole), imageOf(tiles.sharp)];
  const { width, height } = options.overview;
  const small = computed(() => {
    const all = tiles.whole.value;
    return all && image(pooled(all, Math.ceil(width), Math.ceil(height)), palette.value);
  });

  function paintCells(target: CanvasRenderingContext2D, part: Part): void {
    const [below, above] = [tiles.whole.value, part.whole ? null : tiles.sharp.value];
    target.imageSmoothingEnabled = false;
    // What is there of another head stays until there is something of this one.
    const outdated = above?.matrix === matrix.value && below?.matrix !== matrix.value;
    if (below && whole.value && !outdated) paintTile(target, part, below, whole.value);
    const fresh = above?.matrix === matrix.value || below?.matrix !== matrix.value;
    if (above && sharp.value && fresh) paintTile(target, part, above, sharp.value);
  }

  function paintBorders(target: CanvasRenderingContext2D, part: Part): void {
    const { cell, row, column, across, down } = part;
    target.fillStyle = palette.value.muted;
    for (const at of axes.query.borders) target.fillRect(0, (at - row) * cell - 0.5, across, 1);
    for (const at of axes.key.borders) target.fillRect((at - column) * cell - 0.5, 0, 1, down);
  }

  return (target, part) => {
    const { cell, row, column, across, down } = part;
    target.save();
    target.beginPath();
    target.rect(0, 0, across, down);
    target.clip();
    paintCells(target, part);
    paintBorders(target, part);
    target.restore();
    target.strokeStyle = palette.value.border;
    target.strokeRect(-0.5, -0.5, across + 1, down + 1);
    const every = cell >= NAMES_FROM;
    if (left) names.query.paint(target, palette.value, cell, row, down);
    if (every || left) {
      target.save();
      target.rotate(-Math.PI / 2);
      names.key.paint(target, palette.value, cell, column, across);
      target.restore();
    }
    if (part.whole) return;
    paintOverview(target, palette.value, options.overview, options.whole, part, small.value);
  };
}

function paintTile(
  target: CanvasRenderingContext2D,
  { cell, row, column }: Part,
  tile: Tile,
  picture: HTMLCanvasElement,
): void {
  const place = [
    (tile.columns.first - column) * cell,
    (tile.rows.first - row) * cell,
    (tile.columns.end - tile.columns.first) * cell,
    (tile.rows.end - tile.rows.first) * cell,
  ] as const;
  target.clearRect(...place);
  target.drawImage(picture, ...place);
}

function image({ width, height, largest }: Pixels, palette: Palette): HTMLCanvasElement {
  const pixels = new ImageData(width, height);
  const { data } = pixels;
  const [r, g, b] = rgb(palette.ink);
  for (let at = 0, to = 0; at < largest.length; at++, to += 4) {
    data[to] = r;
    data[to + 1] = g;
    data[to + 2] = b;
    // The square root, as in the thumbnails: most weights are small.
    data[to + 3] = 255 * Math.sqrt(largest[at]);
  }
  const made = el("canvas", { width, height });
  made.getContext("2d")?.putImageData(pixels, 0, 0);
  return made;
}
