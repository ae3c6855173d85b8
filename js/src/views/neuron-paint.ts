/** The picture of the neuron view: strips of vector components, bars, and curves. */

import type { LayerData } from "../data/layer.ts";
import { weight } from "../parts/text.ts";
import { alpha, type Palette, rgb } from "../theme.ts";
import { type Layout, NUMBER_WIDTH } from "./neuron-layout.ts";

interface Shown {
  readonly queries: readonly number[];
  readonly keys: readonly number[];
}

/** One query against every key. */
export interface Explanation {
  readonly query: number;
  readonly scores: Float32Array | null;
  readonly weights: Float32Array;
}

export interface Picture {
  readonly data: LayerData;
  readonly head: number;
  readonly shown: Shown;
  readonly layout: Layout;
  readonly rowHeight: number;
  readonly palette: Palette;
  readonly explanation: Explanation;
  readonly focusKey: number | null;
  /** The magnitudes drawn in full colour. */
  readonly scales: { readonly vector: number; readonly product: number };
}

/** Rows that are not looked at. */
const FAINT = 0.4;

/** The 98th percentile: one outlying component must not make all others pale. */
function scaleOf(magnitudes: number[]): number {
  const sorted = Float32Array.from(magnitudes, Math.abs).sort();
  return sorted[Math.floor(0.98 * (sorted.length - 1))] || 1;
}

export function vectorScale(data: LayerData, head: number, shown: Shown): number {
  return scaleOf([
    ...shown.queries.flatMap((i) => [...(data.query(head, i) ?? [])]),
    ...shown.keys.flatMap((j) => [...(data.key(head, j) ?? [])]),
  ]);
}

export function productScale(
  data: LayerData,
  head: number,
  query: number,
  keys: readonly number[],
): number {
  return scaleOf(keys.flatMap((key) => [...product(data, head, query, key)]));
}

function product(data: LayerData, head: number, query: number, key: number): Float32Array {
  const [q, k] = [data.query(head, query), data.key(head, key)];
  return q && k ? q.map((value, n) => value * k[n]) : new Float32Array();
}

export function paintNeurons(target: CanvasRenderingContext2D, picture: Picture): void {
  const { data, head, shown, layout, rowHeight, palette, explanation, scales } = picture;
  const { query, scores } = explanation;
  const [top, inner] = [Math.round(rowHeight * 0.14), rowHeight - 2 * Math.round(rowHeight * 0.14)];
  const strip = (x: number, index: number, values: Float32Array, scale: number, opacity: number) =>
    paintStrip(
      target,
      x,
      index * rowHeight + top,
      layout.strip,
      inner,
      values,
      scale,
      opacity,
      palette,
    );

  const marked = shown.keys.indexOf(picture.focusKey ?? -1);
  if (marked >= 0) {
    target.fillStyle = palette.highlight;
    const [x, y] = [layout.keyLabels, marked * rowHeight];
    target.fillRect(x, y, layout.weights + layout.weightWidth + NUMBER_WIDTH - x, rowHeight);
  }
  shown.queries.forEach((i, index) => {
    const values = data.query(head, i);
    if (values) strip(layout.queries, index, values, scales.vector, i === query ? 1 : FAINT);
  });
  shown.keys.forEach((j, index) => {
    const values = data.key(head, j);
    const masked = scores?.[j] === Number.NEGATIVE_INFINITY;
    if (values) strip(layout.keys, index, values, scales.vector, masked ? FAINT : 1);
    if (!masked) strip(layout.products, index, product(data, head, query, j), scales.product, 1);
  });
  paintBars(target, picture, top, inner);
  paintCurves(target, picture);
  const row = shown.queries.indexOf(query);
  target.strokeStyle = palette.accent;
  target.lineWidth = 2;
  if (row >= 0) {
    target.strokeRect(layout.queries - 2, row * rowHeight + top - 2, layout.strip + 4, inner + 4);
  }
}

/** One vector: blue where positive, orange where negative, stronger where larger. */
function paintStrip(
  target: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  height: number,
  values: Float32Array,
  scale: number,
  opacity: number,
  palette: Palette,
): void {
  const [positive, negative] = [rgb(palette.positive), rgb(palette.negative)];
  const pixels = new ImageData(values.length, 1);
  values.forEach((value, n) => {
    pixels.data.set(value < 0 ? negative : positive, n * 4);
    pixels.data[n * 4 + 3] = 255 * opacity * Math.min(1, Math.abs(value) / scale);
  });
  scratch.width = values.length;
  scratch.height = 1;
  scratch.getContext("2d")?.putImageData(pixels, 0, 0);
  target.imageSmoothingEnabled = false;
  target.drawImage(scratch, x, y, width, height);
}

const scratch = document.createElement("canvas");

function paintBars(
  target: CanvasRenderingContext2D,
  picture: Picture,
  top: number,
  inner: number,
): void {
  const { shown, layout, rowHeight, palette, explanation, focusKey } = picture;
  const { scores, weights } = explanation;
  const finite = [...(scores ?? [])].filter(Number.isFinite).map(Math.abs);
  const largest = Math.max(...finite, 1e-9);
  const zero = layout.scores + layout.scoreWidth / 2;
  target.fillStyle = palette.border;
  target.fillRect(Math.round(zero), 0, 1, shown.keys.length * rowHeight);
  target.font = "12px system-ui, sans-serif";
  target.textBaseline = "middle";
  shown.keys.forEach((key, index) => {
    const y = index * rowHeight + top;
    const score = scores?.[key];
    if (score === Number.NEGATIVE_INFINITY) {
      target.fillStyle = palette.muted;
      target.fillText("–", zero - 3, y + inner / 2);
    } else if (score !== undefined) {
      const length = (score / largest) * (layout.scoreWidth / 2);
      target.fillStyle = score < 0 ? palette.negative : palette.positive;
      target.fillRect(Math.min(zero, zero + length), y, Math.abs(length), inner);
    }
    const length = weights[key] * layout.weightWidth;
    target.fillStyle = palette.positive;
    target.fillRect(layout.weights, y, length, inner);
    if (weights[key] >= 0.01 || key === focusKey) {
      target.fillStyle = palette.muted;
      target.fillText(weight(weights[key]), layout.weights + length + 6, y + inner / 2 + 1);
    }
  });
}

/** From the query to each key, as opaque as the weight. */
function paintCurves(target: CanvasRenderingContext2D, picture: Picture): void {
  const { shown, layout, rowHeight, palette, explanation } = picture;
  const from = shown.queries.indexOf(explanation.query);
  if (from < 0) return;
  const left = layout.queries + layout.strip + 5;
  const right = layout.keyLabels + 4;
  const middle = (left + right) / 2;
  target.lineWidth = 2.5;
  shown.keys.forEach((key, to) => {
    const value = explanation.weights[key];
    if (value < 0.01) return;
    target.strokeStyle = alpha(palette.positive, value);
    target.beginPath();
    target.moveTo(left, (from + 0.5) * rowHeight);
    target.bezierCurveTo(
      middle,
      (from + 0.5) * rowHeight,
      middle,
      (to + 0.5) * rowHeight,
      right,
      (to + 0.5) * rowHeight,
    );
    target.stroke();
  });
}
