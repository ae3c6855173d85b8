/** Paints strips of vector components: blue if positive, orange if negative, stronger if larger. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { sees } from "../../data/explanation.ts";
import { products } from "../../data/neurons.ts";
import { imageCanvas } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import type { Range } from "../../parts/range.ts";
import { type Palette, rgb } from "../../styles/palette.ts";
import { type Layout, MARKS } from "./layout.ts";
import type { QueryAnalysis } from "./query-analysis.ts";

/** The arguments that all painting functions of the neuron view share. */
export interface Canvas {
  readonly painter: Painter;
  readonly rowHeight: number;
  readonly palette: Palette;
  readonly range: Range;
}

export interface Picture extends Canvas {
  readonly layout: Layout;
  readonly vectors: Vectors;
}

/** The strips of the rendered rows, reused while the pointer moves. */
export interface Vectors {
  readonly queries: ReadonlySignal<HTMLCanvasElement>;
  readonly keys: ReadonlySignal<HTMLCanvasElement>;
}

export function vectorsOf(
  analysis: QueryAnalysis,
  palette: ReadonlySignal<Palette>,
  range: ReadonlySignal<Range>,
): Vectors {
  const { data, shown, head, order, scales } = analysis;
  const imageOf = (tokens: readonly number[], vector: (at: number) => Float32Array | null) =>
    computed(() => {
      const vectors = tokens.slice(...range.value).map(vector);
      return image(palette.value, vectors, order.value, scales.vector.value);
    });
  return {
    queries: imageOf(shown.queries, (i) => data.query(head.value, i)),
    keys: imageOf(shown.keys, (j) => data.key(head.value, j)),
  };
}

/** The opacity of vectors that are not in focus. */
const FAINT = 0.4;

/** The top and height of the content of a row, or of one part of a row split in `of`. */
export function band(rowHeight: number, row: number, part = 0, of = 1): [number, number] {
  const margin = Math.round(rowHeight * 0.14);
  const inner = rowHeight - 2 * margin;
  const height = Math.floor((inner - (of - 1)) / of);
  return [MARKS + row * rowHeight + margin + part * (height + 1), height];
}

export function paintStrips(canvas: Picture, analysis: QueryAnalysis): void {
  const { layout, rowHeight, vectors } = canvas;
  const { data, shown } = analysis;
  const head = analysis.head.value;
  const [first, second] = [analysis.explanation.value, analysis.comparison.value];
  const drawn = second ? [first, second] : [first];

  if (layout.queries !== null) {
    paint(canvas, layout.queries, vectors.queries.value, (row) => [
      band(rowHeight, row),
      drawn.some(({ query }) => query === shown.queries[row]) ? 1 : FAINT,
    ]);
  }
  if (layout.keys !== null) {
    paint(canvas, layout.keys, vectors.keys.value, (row) => [
      band(rowHeight, row),
      drawn.some((one) => sees(one, shown.keys[row])) ? 1 : FAINT,
    ]);
  }
  drawn.forEach((one, part) => {
    const q = data.query(head, one.query) as Float32Array;
    const terms = shown.keys
      .slice(...canvas.range)
      .map((j) => products(q, data.key(head, j) as Float32Array));
    const strip = image(canvas.palette, terms, analysis.order.value, analysis.scales.product.value);
    paint(canvas, layout.products, strip, (row) => [
      band(rowHeight, row, part, drawn.length),
      sees(one, shown.keys[row]) ? 1 : 0,
    ]);
  });
}

/** An image with a pixel per component and a row per vector. */
function image(
  palette: Palette,
  vectors: readonly (Float32Array | null)[],
  order: readonly number[],
  scale: number,
): HTMLCanvasElement {
  // Beyond the end of the shorter text there are no vectors.
  if (!vectors.length) return el("canvas", { height: 0 });
  const [positive, negative] = [rgb(palette.positive), rgb(palette.negative)];
  const pixels = new ImageData(order.length, vectors.length);
  let at = 0;
  for (const vector of vectors) {
    for (const n of order) {
      const value = vector?.[n] ?? 0;
      pixels.data.set(value < 0 ? negative : positive, at);
      pixels.data[at + 3] = 255 * Math.min(1, Math.abs(value) / scale);
      at += 4;
    }
  }
  return imageCanvas(pixels);
}

/** @param place the top, height and opacity of each row */
function paint(
  { painter, layout, range }: Picture,
  x: number,
  strip: HTMLCanvasElement,
  place: (row: number) => [[number, number], number],
): void {
  painter.imageSmoothingEnabled = false;
  for (let at = 0; at < strip.height; at++) {
    const [[top, height], opacity] = place(range[0] + at);
    if (!opacity) continue;
    painter.globalAlpha = opacity;
    painter.drawImage(strip, 0, at, strip.width, 1, x, top, layout.strip, height);
  }
  painter.globalAlpha = 1;
}

/** The distance of hatching lines, and their width. */
const HATCH = 6;
const HATCH_LINE = 1.2;

/** Fill a box with diagonal lines, aligned across boxes. */
export function hatch(
  painter: Painter,
  color: string,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  painter.save();
  painter.beginPath();
  painter.rect(x, y, width, height);
  painter.clip();
  painter.strokeStyle = color;
  painter.lineWidth = HATCH_LINE;
  painter.beginPath();
  // Along each line, x + y is constant; the ends are outside of the box.
  const first = Math.ceil((x + y) / HATCH - 1) * HATCH;
  for (let sum = first; sum < x + y + width + height + HATCH; sum += HATCH) {
    const [from, to] = [Math.max(x, sum - y - height) - 1, Math.min(x + width, sum - y) + 1];
    painter.moveTo(from, sum - from);
    painter.lineTo(to, sum - to);
  }
  painter.stroke();
  painter.restore();
}
