/** Paints strips of vector components: blue if positive, orange if negative, stronger if larger. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { type Explanation, sees } from "../../data/explanation.ts";
import { products } from "../../data/neurons.ts";
import { imageCanvas } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import type { Range } from "../../parts/track.ts";
import { type Palette, type RGB, rgb } from "../../styles/palette.ts";
import { type Layout, MARKS } from "./layout.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import type { Rows } from "./rows.ts";

/** The arguments that all painting functions of the neuron view share. */
export interface Canvas {
  readonly analysis: QueryAnalysis;
  readonly layout: Layout;
  readonly images: StripImages;
  readonly painter: Painter;
  readonly rowHeight: number;
  readonly palette: Palette;
  readonly range: Range;
  /** The rows that curves lead to; towards others they fade out. */
  readonly reached: Range;
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

type StripImages = ReturnType<typeof stripImages>;

/**
 * Images of strips with a pixel per component and per CSS pixel of height. Those of the queries and
 * keys in the picture are reused while the pointer moves.
 */
export function stripImages(
  analysis: QueryAnalysis,
  palette: ReadonlySignal<Palette>,
  { height: rowHeight, painted }: Rows,
) {
  const { data, shown, head, order, scales, explanation } = analysis;
  type Vector = (row: number) => Float32Array | null;
  const queryOf: Vector = (row) => {
    if (row >= shown.queries.length) return null;
    const { query } = explanation.value;
    // The one query that is explained, as it is walked back.
    return data.info.recurrence
      ? data.queryAt(head.value, query, shown.queries[row])
      : data.query(head.value, shown.queries[row]);
  };
  const keyOf: Vector = (row) =>
    row < shown.keys.length ? data.key(head.value, shown.keys[row]) : null;

  const heightOf = ([first, end]: Range) => Math.max(1, (end - first) * rowHeight);
  const blank = (range: Range) => new ImageData(order.value.length, heightOf(range));
  /** Paint the vectors of some rows, each as one part of its row. */
  const paintRows = (
    image: ImageData,
    [first, end]: Range,
    parts: readonly Vector[],
    scale: number,
  ) => {
    const inks = [rgb(palette.value.positive), rgb(palette.value.negative)] as const;
    parts.forEach((vectorOf, part) => {
      for (let row = first; row < end; row++) {
        const vector = vectorOf(row);
        const [top, height] = band(rowHeight, row - first, part, parts.length);
        if (vector) paintRow(image, top - MARKS, height, vector, order.value, scale, inks);
      }
    });
  };
  const kept = (vectorOf: Vector) => {
    const imageOf = (range: Range) => {
      const image = blank(range);
      paintRows(image, range, [vectorOf], scales.vector.value);
      return imageCanvas(image);
    };
    const inPicture = computed(() => imageOf(painted.value));
    return (range: Range) => (range === painted.value ? inPicture.value : imageOf(range));
  };
  // One image and canvas for the products, since new ones with every move of the pointer would have
  // to be collected.
  const canvas = el("canvas");
  let image = new ImageData(1, 1);
  return {
    queries: kept(queryOf),
    keys: kept(keyOf),
    /** The products of these queries with every key that they see, one below the other in a row. */
    products(range: Range, explained: readonly Explanation[]): HTMLCanvasElement {
      const parts = explained.map((one): Vector => {
        return (row) => {
          const [k, key] = [keyOf(row), shown.keys[row]];
          const q = k && sees(one, key) && data.queryAt(head.value, one.query, key);
          return q ? products(q, k) : null;
        };
      });
      if (image.width === order.value.length && image.height === heightOf(range))
        image.data.fill(0);
      else {
        image = blank(range);
        canvas.width = image.width;
        canvas.height = image.height;
      }
      paintRows(image, range, parts, scales.product.value);
      canvas.getContext("2d")?.putImageData(image, 0, 0);
      return canvas;
    },
  };
}

/** Paint the components of a vector from left to right, in lines from `top` on. */
function paintRow(
  { data, width }: ImageData,
  top: number,
  height: number,
  vector: Float32Array,
  order: readonly number[],
  scale: number,
  [positive, negative]: readonly [RGB, RGB],
): void {
  const start = 4 * top * width;
  let at = start;
  for (const n of order) {
    const value = vector[n];
    const ink = value < 0 ? negative : positive;
    data[at] = ink[0];
    data[at + 1] = ink[1];
    data[at + 2] = ink[2];
    data[at + 3] = 255 * Math.min(1, Math.abs(value) / scale);
    at += 4;
  }
  for (let line = 1; line < height; line++)
    data.copyWithin(start + 4 * line * width, start, start + 4 * width);
}

/** The strips that there is room for. */
export function stripsOf({ layout, images, analysis }: Canvas) {
  const { shown, explanations } = analysis;
  const explained = explanations.value;
  const isExplained = (row: number) =>
    explained.some(({ query, signed }) => signed || query === shown.queries[row]);
  const isSeen = (row: number) => explained.some((one) => sees(one, shown.keys[row]));
  const [queries, keys] = [shown.queries.length, shown.keys.length];
  const ofProducts = (range: Range) => images.products(range, explained);
  const strips = [
    { left: layout.queries, rows: queries, image: images.queries, isVivid: isExplained },
    { left: layout.keys, rows: keys, image: images.keys, isVivid: isSeen },
    { left: layout.products, rows: keys, image: ofProducts, isVivid: () => true },
  ];
  return strips.flatMap(({ left, ...strip }) => (left === null ? [] : [{ left, ...strip }]));
}

/** Paint a strip, neighbouring rows of the same opacity at once. */
export function paintStrip(
  { painter, layout, rowHeight, range }: Canvas,
  { left, image: imageOf, isVivid }: ReturnType<typeof stripsOf>[number],
): void {
  const [begin, end] = range;
  const image = imageOf(range);
  const opacityOf = (row: number) => (isVivid(row) ? 1 : FAINT);
  painter.imageSmoothingEnabled = false;
  for (let first = begin, next = begin; first < end; first = next) {
    const opacity = opacityOf(first);
    while (next < end && opacityOf(next) === opacity) next++;
    const [from, height] = [(first - begin) * rowHeight, (next - first) * rowHeight];
    const top = MARKS + first * rowHeight;
    painter.globalAlpha = opacity;
    painter.drawImage(image, 0, from, image.width, height, left, top, layout.strip, height);
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
