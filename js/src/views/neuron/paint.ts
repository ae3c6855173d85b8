/** Paints the neuron view: strips, bars, curves, and marks of neurons and queries. */

import { type Box, strokeBox } from "../../painting/canvas.ts";
import { alpha } from "../../styles/palette.ts";
import { paintBars } from "./bars.ts";
import { MARKS } from "./layout.ts";
import { band, type Canvas, hatch, paintStrip, stripsOf } from "./strips.ts";

/** @param curves false if other lines stand in place of the explained queries' curves */
export function paintNeurons(canvas: Canvas, curves: boolean): void {
  const { layout, analysis } = canvas;
  if (layout.products !== null) {
    paintFocus(canvas);
    for (const strip of stripsOf(canvas)) paintStrip(canvas, strip);
    paintPairs(canvas);
    paintMuted(canvas);
    analysis.explanations.value.forEach(({ query }, second) => {
      paintFrame(canvas, analysis.places.query[query], second > 0);
    });
    paintCursor(canvas);
    paintDecisive(canvas, layout.products);
  }
  paintBars(canvas);
  if (curves) paintCurves(canvas);
}

function paintFocus({ painter, layout, rowHeight, palette, analysis }: Canvas): void {
  const { value: key } = analysis.focusKey;
  const row = key === null ? -1 : analysis.places.key[key];
  if (row < 0) return;
  const x = layout.keyLabels;
  const box = [x, MARKS + row * rowHeight, layout.weights.end - x, rowHeight] as const;
  // A frame, since a tinted background would change the colours of the vectors.
  strokeBox(painter, box, palette.accent, { out: -1, line: 1.5 });
}

/** The faintest curve: fainter ones are invisible. */
const FAINTEST = 0.01;

/** The end of a curve beyond the rows reached, in rows, and its opacity there. */
const BEYOND = 1;
const FADED = 0.25;

/**
 * Paint a curve from the query to each key, as opaque as the weight; dashed from the compared
 * query. If one end is not among the rows reached, the curve fades out towards it.
 */
function paintCurves({ painter, rowHeight, palette, layout, reached, analysis }: Canvas): void {
  const [left, right] = layout.curves;
  const { shown, places } = analysis;
  const middle = (left + right) / 2;
  const [first, end] = reached;
  const drawn = (row: number) => row >= first && row < end;
  const within = (row: number) => Math.max(first - BEYOND, Math.min(end - 1 + BEYOND, row));
  const centre = (row: number) => MARKS + (within(row) + 0.5) * rowHeight;
  painter.lineWidth = 2.5;
  /** From one colour at the left end to another at the right. */
  const fading = (start: number, stop: number, from: string, to: string): CanvasGradient => {
    const gradient = painter.createLinearGradient(left, start, right, stop);
    gradient.addColorStop(0, from);
    gradient.addColorStop(1, to);
    return gradient;
  };
  analysis.explanations.value.forEach((one, second) => {
    const from = places.query[one.query];
    if (from < 0) return;
    painter.setLineDash(second ? [5, 4] : []);
    for (let to = 0; to < shown.keys.length; to++) {
      const weight = one.shown.weights[shown.keys[to]];
      const value = Math.min(1, Math.abs(weight) / one.peak);
      const color = weight < 0 ? palette.negative : palette.positive;
      if (value < FAINTEST || !(drawn(from) || drawn(to))) continue;
      const [start, stop] = [centre(from), centre(to)];
      const [full, clear] = [value, value * FADED].map((part) => alpha(color, part));
      painter.strokeStyle =
        drawn(from) && drawn(to)
          ? full
          : fading(start, stop, drawn(from) ? full : clear, drawn(to) ? full : clear);
      painter.beginPath();
      painter.moveTo(left, start);
      painter.bezierCurveTo(middle, start, middle, stop, right, stop);
      painter.stroke();
    }
  });
  painter.setLineDash([]);
}

/** Paint the pairs that a rotary embedding rotates together, if neurons are in model order. */
function paintPairs(canvas: Canvas): void {
  const { painter, layout, rowHeight, palette, analysis } = canvas;
  const { data, order } = analysis;
  const { rotary } = data.info;
  if (!rotary || order.value.some((n, at) => n !== at)) return;
  const cell = layout.strip / order.value.length;
  for (const { left: x, rows } of stripsOf(canvas)) {
    painter.fillStyle = palette.muted;
    const line = (at: number) =>
      painter.fillRect(Math.round(x + at * cell) - 0.5, MARKS, 1, rows * rowHeight);
    const end = rotary.start + rotary.dims;
    if (rotary.pairs === "halves") line(rotary.start + rotary.dims / 2);
    else
      for (let n = rotary.start; n < end; n += 2)
        painter.fillRect(x + n * cell + 0.5, MARKS, Math.max(1, 2 * cell - 1.5), 1.5);
    if (rotary.start > 0) line(rotary.start);
    if (end < order.value.length) line(end);
  }
}

function paintMuted(canvas: Canvas): void {
  const { painter, palette, analysis } = canvas;
  for (const n of analysis.muted.value) {
    for (const [x, top, width, height] of columnsOf(canvas, n)) {
      painter.fillStyle = alpha(palette.background, 0.7);
      painter.fillRect(x, top, width, height);
      hatch(painter, alpha(palette.muted, 0.55), x, top, width, height);
    }
  }
}

/** Frame the focused neuron, and, dashed, the one that is rotated with it. */
function paintCursor(canvas: Canvas): void {
  const { painter, palette, analysis } = canvas;
  const neurons = [analysis.neuron.value, analysis.partner.value];
  neurons.forEach((n, dashed) => {
    for (const box of n === null ? [] : columnsOf(canvas, n))
      strokeBox(painter, box, palette.text, { out: 0.5, dash: dashed ? [3, 2] : [] });
  });
}

/** The column of a neuron in each strip. */
function columnsOf(canvas: Canvas, n: number): readonly Box[] {
  const { layout, rowHeight, analysis } = canvas;
  const { order } = analysis;
  const cell = layout.strip / order.value.length;
  const at = order.value.indexOf(n) * cell;
  return stripsOf(canvas).map(({ left, rows }) => [left + at, MARKS, cell, rows * rowHeight]);
}

/** Frame the vector of the explained query, or, dashed, of the compared one. */
function paintFrame(
  { painter, layout, rowHeight, palette }: Canvas,
  row: number,
  dashed: boolean,
): void {
  if (row < 0 || layout.queries === null) return;
  const [top, height] = band(rowHeight, row);
  const box = [layout.queries, top, layout.strip, height] as const;
  strokeBox(painter, box, palette.accent, { out: 2, line: 2, dash: dashed ? [6, 4] : [] });
}

/** The least width of a component with a triangle instead of a tick. */
const TRIANGLES = 5;

/** Triangles above the neurons that make most of the difference to the other keys. */
function paintDecisive({ painter, layout, palette, analysis }: Canvas, products: number): void {
  const { order, decisive } = analysis;
  const cell = layout.strip / order.value.length;
  const half = Math.min(4, cell * 0.45);
  painter.fillStyle = palette.text;
  for (const n of decisive.value ?? []) {
    const x = products + (order.value.indexOf(n) + 0.5) * cell;
    if (cell < TRIANGLES) {
      const width = cell < 3 ? 1 : 2;
      painter.fillRect(Math.round(x - width / 2), MARKS - 8, width, 6);
      continue;
    }
    painter.beginPath();
    painter.moveTo(x - half, MARKS - 8);
    painter.lineTo(x + half, MARKS - 8);
    painter.lineTo(x, MARKS - 2);
    painter.fill();
  }
}
