/** Paints the bars and numbers of the neuron view: bias, score and softmax weight, or coefficient, of each key. */

import { sees } from "../../data/explanation.ts";
import { strokeBox } from "../../painting/canvas.ts";
import { fontOf, weight, within } from "../../parts/text.ts";
import type { Bars } from "./layout.ts";
import { numbersOf, type Quantity, SINK } from "./numbers.ts";
import type { Explained } from "./query-analysis.ts";
import { band, type Canvas, hatch } from "./strips.ts";

/** The box of one query's bars in a row. */
interface Box {
  readonly top: number;
  readonly height: number;
  /** True for the compared query, whose bars are hatched. */
  readonly second: boolean;
}

/** The least height of a row for the larger font. */
const LARGE_FONT_FROM = 16;

export function paintBars(canvas: Canvas): void {
  const { painter, rowHeight, analysis, layout } = canvas;
  const explanations = analysis.explanations.value;
  const [{ original }] = explanations;
  painter.textBaseline = "middle";
  painter.font = fontOf(rowHeight / explanations.length < LARGE_FONT_FROM ? 11 : 12);
  if (layout.bias) paintColumn(canvas, "bias", layout.bias);
  // Without scores, q · k.
  if (layout.scores) paintColumn(canvas, original.scores ? "score" : "dot", layout.scores);
  paintColumn(canvas, "weight", layout.weights);
}

/** Shares are bars from the left; other numbers from the middle, to the right if they are positive. */
function paintColumn(canvas: Canvas, quantity: Quantity, column: Bars): void {
  const { painter, rowHeight, palette, analysis, range } = canvas;
  const explanations = analysis.explanations.value;
  const [{ logit, signed }] = explanations;
  const rows = logit === null ? analysis.shown.keys : [...analysis.shown.keys, SINK];
  const painted = rows.slice(...range);
  const isWeight = quantity === "weight";
  const isShare = isWeight && !signed;
  const [start, room] = isShare
    ? [column.left, column.width]
    : [column.left + column.width / 2, column.width / 2];
  if (!isShare) {
    painter.fillStyle = palette.border;
    const [top] = band(rowHeight, range[0]);
    painter.fillRect(Math.round(start), top, 1, painted.length * rowHeight);
  }
  const largest = isWeight ? null : largestIn(explanations, quantity, rows);
  explanations.forEach((explained, at) => {
    const [model, shown] = bothOf(explained, quantity);
    const scale = room / (largest ?? explained.peak);
    painted.forEach((key, index) => {
      const [top, height] = band(rowHeight, range[0] + index, at, explanations.length);
      const place = { top, height, second: at > 0 };
      if (!isSeen(explained, key)) {
        if (!isWeight && quantity !== "bias") label(canvas, "masked", column.end, place);
        return;
      }
      const [original, now] = [model?.of(key) ?? null, shown?.of(key) ?? null];
      if (!shown || original === null || now === null) return;
      bar(canvas, start, scale * now, now < 0 ? palette.negative : palette.positive, place);
      if (original !== now) outline(canvas, palette.text, start, scale * original, place);
      const error = shown.error(key);
      const end = start + scale * Math.max(original, now) + 6;
      if (isShare) label(canvas, weight(now, error), end, place, "left");
      else label(canvas, within(now, error, isWeight ? 3 : 2), column.end, place);
    });
  });
}

/** True if the query can see the key, or this is the sink. */
const isSeen = (explained: Explained, key: number) => key === SINK || sees(explained, key);

/** The model's numbers, and those that result from muted neurons. */
const bothOf = (explained: Explained, quantity: Quantity) =>
  [false, true].map((muted) => numbersOf(explained, quantity, muted));

/** The largest magnitude of all rows, including those that are not painted. */
function largestIn(
  explanations: readonly Explained[],
  quantity: Quantity,
  rows: readonly number[],
): number {
  let largest = 1e-9;
  for (const explained of explanations) {
    const sides = bothOf(explained, quantity);
    for (const key of rows) {
      if (!isSeen(explained, key)) continue;
      for (const numbers of sides) {
        const size = Math.abs(numbers?.of(key) ?? 0);
        if (size < Number.POSITIVE_INFINITY) largest = Math.max(largest, size);
      }
    }
  }
  return largest;
}

function bar(canvas: Canvas, x: number, length: number, color: string, place: Box): void {
  const { painter } = canvas;
  const { top, height, second } = place;
  const [left, width] = [Math.min(x, x + length), Math.abs(length)];
  if (second) {
    hatch(painter, color, left, top, width, height);
    outline(canvas, color, x, length, place);
  } else {
    painter.fillStyle = color;
    painter.fillRect(left, top, width, height);
  }
}

function outline(
  { painter }: Canvas,
  color: string,
  x: number,
  length: number,
  { top, height }: Box,
): void {
  const [left, width] = [Math.min(x, x + length), Math.abs(length)];
  if (width < 1) return;
  strokeBox(painter, [left + 0.5, top + 0.5, Math.max(0.5, width - 1), height - 1], color);
}

function label(
  { painter, palette }: Canvas,
  text: string,
  x: number,
  { top, height }: Box,
  align: "left" | "right" = "right",
): void {
  painter.fillStyle = palette.muted;
  painter.textAlign = align;
  painter.fillText(text, x, top + height / 2 + 1);
}
