/** Paints strips of vector components: blue if positive, orange if negative, stronger if larger. */

import { sees } from "../../data/explanation.ts";
import { products } from "../../data/neurons.ts";
import { imageCanvas } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import type { Range } from "../../parts/range.ts";
import { type Palette, type RGB, rgb } from "../../styles/palette.ts";
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

/** A strip, or one part of a strip whose rows are split. */
interface Strip {
  /** The left edge of the strip. */
  readonly left: number;
  /** The top and height of a row in the strip. */
  band(row: number): [number, number];
  /** The vector of a row; null beyond the end of the shorter text. */
  vector(row: number): Float32Array | null;
  opacity(row: number): number;
  /** The magnitude in full colour. */
  readonly scale: number;
}

export function paintStrips(canvas: Picture, analysis: QueryAnalysis): void {
  const { painter, layout, rowHeight, range } = canvas;
  const [first, end] = range;
  const order = analysis.order.value;
  const strips = stripsOf(canvas, analysis);
  // One image of all strips side by side, with a pixel per component and CSS pixel of height.
  const width = strips.length * order.length;
  const pixels = new ImageData(width, Math.max(1, (end - first) * rowHeight));
  const top = MARKS + first * rowHeight;
  const inks = [rgb(canvas.palette.positive), rgb(canvas.palette.negative)] as const;
  strips.forEach((strip, at) => {
    for (let row = first; row < end; row++) {
      const [y, height] = strip.band(row);
      const place = (y - top) * width + at * order.length;
      paintRow(pixels, place, height, strip, row, order, inks);
    }
  });
  const image = imageCanvas(pixels);
  painter.imageSmoothingEnabled = false;
  strips.forEach(({ left }, at) => {
    const from = [at * order.length, 0, order.length, pixels.height] as const;
    painter.drawImage(image, ...from, left, top, layout.strip, pixels.height);
  });
}

function stripsOf(
  { layout, rowHeight }: Picture,
  { data, shown, head, explanation, comparison, scales }: QueryAnalysis,
): readonly Strip[] {
  const drawn = [explanation.value, comparison.value].filter((one) => one !== null);
  const strips: Strip[] = [];
  const keyOf = (row: number) =>
    row < shown.keys.length ? data.key(head.value, shown.keys[row]) : null;
  const whole = {
    band: (row: number) => band(rowHeight, row),
    scale: scales.vector.value,
  };
  if (layout.queries !== null) {
    strips.push({
      ...whole,
      left: layout.queries,
      vector: (row) =>
        row < shown.queries.length ? data.query(head.value, shown.queries[row]) : null,
      opacity: (row) => (drawn.some(({ query }) => query === shown.queries[row]) ? 1 : FAINT),
    });
  }
  if (layout.keys !== null) {
    strips.push({
      ...whole,
      left: layout.keys,
      vector: keyOf,
      opacity: (row) => (drawn.some((one) => sees(one, shown.keys[row])) ? 1 : FAINT),
    });
  }
  drawn.forEach((one, part) => {
    const q = data.query(head.value, one.query) as Float32Array;
    strips.push({
      left: layout.products,
      band: (row) => band(rowHeight, row, part, drawn.length),
      vector(row) {
        const k = keyOf(row);
        return k && sees(one, shown.keys[row]) ? products(q, k) : null;
      },
      opacity: () => 1,
      scale: scales.product.value,
    });
  });
  return strips;
}

/** Paint one row of a strip into an image of all strips, from the pixel `at`. */
function paintRow(
  { data, width }: ImageData,
  at: number,
  height: number,
  { vector, opacity, scale }: Strip,
  row: number,
  order: readonly number[],
  [positive, negative]: readonly [RGB, RGB],
): void {
  const values = vector(row);
  if (!values) return;
  const most = 255 * opacity(row);
  let to = 4 * at;
  for (const n of order) {
    const value = values[n];
    const ink = value < 0 ? negative : positive;
    data[to] = ink[0];
    data[to + 1] = ink[1];
    data[to + 2] = ink[2];
    data[to + 3] = most * Math.min(1, Math.abs(value) / scale);
    to += 4;
  }
  for (let down = 1; down < height; down++) {
    data.copyWithin(4 * (at + down * width), 4 * at, to);
  }
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
