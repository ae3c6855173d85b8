/** Paints the bars and numbers of the neuron view: bias, score and softmax weight, or coefficient, of each key. */

import { biasError, type Reading, sees } from "../../data/explanation.ts";
import { fontOf, weight, within } from "../../parts/text.ts";
import type { Range } from "../../parts/track.ts";
import type { Bars } from "./layout.ts";
import type { Explained, QueryAnalysis } from "./query-analysis.ts";
import { band, type Canvas, hatch } from "./strips.ts";

/** The columns of bars; only the softmax without scores. */
export interface BarColumns {
  readonly bias: Bars | null;
  readonly scores: Bars | null;
  readonly weights: Bars;
}

/** The model's number, and the one that results from muted neurons. */
interface Change {
  readonly original: number;
  readonly now: number;
  /** A bound of the difference of \`now\` from the record's. */
  readonly error: number;
}

/** The numbers of one query in a row. */
interface Row {
  readonly bias: number | null;
  readonly score: Change;
  readonly weight: Change;
}

/** The box of one query's bars in a row. */
interface Box {
  readonly top: number;
  readonly height: number;
  /** True for the compared query, whose bars are hatched. */
  readonly second: boolean;
}

/** The least height of a row for the larger font. */
const LARGE_FONT_FROM = 16;

/** The scores; without them, q · k. */
const logits = ({ scores, dots }: Reading): ArrayLike<number> => scores ?? dots;

export function paintBars(canvas: Canvas, columns: BarColumns): void {
  const { painter, rowHeight, palette, analysis } = canvas;
  const explanations = analysis.explanations.value;
  const rowsByQuery = explanations.map((one) => rowsOf(analysis, one, canvas.range));
  const largest = magnitudesOf(analysis, explanations);
  painter.textBaseline = "middle";
  painter.font = fontOf(rowHeight / rowsByQuery.length < LARGE_FONT_FROM ? 11 : 12);
  const coefficients = explanations[0].signed ? columns.weights : null;
  for (const column of [columns.bias, columns.scores, coefficients]) {
    if (!column) continue;
    painter.fillStyle = palette.border;
    const [first] = canvas.range;
    const height = rowsByQuery[0].length * rowHeight;
    painter.fillRect(Math.round(zeroOf(column)), band(rowHeight, first)[0], 1, height);
  }
  rowsByQuery.forEach((rows, at) => {
    rows.forEach((row, index) => {
      const [top, height] = band(rowHeight, canvas.range[0] + index, at, rowsByQuery.length);
      const place = { top, height, second: at > 0 };
      if (!row) {
        if (columns.scores) label(canvas, "masked", columns.scores.end, place);
        return;
      }
      if (columns.bias && row.bias !== null) {
        const bias = { original: row.bias, now: row.bias, error: biasError(row.bias) };
        signed(canvas, columns.bias, bias, largest.bias, place);
      }
      if (columns.scores) signed(canvas, columns.scores, row.score, largest.score, place);
      const { signed: isSigned, peak } = explanations[at];
      if (isSigned) signed(canvas, columns.weights, row.weight, peak, place, 3);
      else share(canvas, columns.weights, row.weight, place);
    });
  });
}

/** The largest magnitudes of all rows, including those that are not painted. */
function magnitudesOf(analysis: QueryAnalysis, explanations: readonly Explained[]) {
  const { data, shown, head } = analysis;
  let [bias, score] = [1e-9, 1e-9];
  for (const explanation of explanations) {
    const [original, now] = [logits(explanation.original), logits(explanation.shown)];
    for (const key of shown.keys) {
      if (!sees(explanation, key)) continue;
      if (explanation.bias) bias = Math.max(bias, finite(explanation.bias[key]));
      score = Math.max(score, finite(original[key]), finite(now[key]));
    }
  }
  return { bias, score: Math.max(score, finite(data.sink(head.value) ?? 0)) };
}

/** The numbers of every painted key, null if it is masked; then those of the sink. */
function rowsOf(
  { data, shown, head }: QueryAnalysis,
  explanation: Explained,
  [first, end]: Range,
): readonly (Row | null)[] {
  const { original, shown: now } = explanation;
  const { shown: errors } = explanation.errors;
  const rows = shown.keys.slice(first, end).map((key): Row | null => {
    if (!sees(explanation, key)) return null;
    return {
      bias: explanation.bias?.[key] ?? null,
      score: {
        original: logits(original)[key],
        now: logits(now)[key],
        error: now.scores ? errors.score : errors.dot(key),
      },
      weight: { original: original.weights[key], now: now.weights[key], error: errors.weight },
    };
  });
  const sink = data.sink(head.value);
  if (sink === null || original.sink === null || now.sink === null) return rows;
  if (end <= shown.keys.length) return rows;
  const score = { original: sink, now: sink, error: 0 };
  const weight = { original: original.sink, now: now.sink, error: errors.sink };
  return [...rows, { bias: null, score, weight }];
}

const finite = (value: number) => (Number.isFinite(value) ? Math.abs(value) : 0);

const zeroOf = ({ left, width }: Bars) => left + width / 2;

/** Paint a number as a bar from the middle, positive to the right, negative to the left. */
function signed(
  canvas: Canvas,
  column: Bars,
  { original, now, error }: Change,
  largest: number,
  place: Box,
  digits = 2,
): void {
  const { palette } = canvas;
  const zero = zeroOf(column);
  const reach = (value: number) => (value / largest) * (column.width / 2);
  bar(canvas, zero, reach(now), now < 0 ? palette.negative : palette.positive, place);
  if (original !== now) outline(canvas, zero, reach(original), place);
  label(canvas, within(now, error, digits), column.end, place);
}

/** Paint a weight from 0 to 1 as a bar with its number. */
function share(canvas: Canvas, column: Bars, { original, now, error }: Change, place: Box): void {
  bar(canvas, column.left, now * column.width, canvas.palette.positive, place);
  if (original !== now) outline(canvas, column.left, original * column.width, place);
  const after = column.left + Math.max(original, now) * column.width + 6;
  label(canvas, weight(now, error), after, place, "left");
}

function bar({ painter }: Canvas, x: number, length: number, color: string, place: Box): void {
  const { top, height, second } = place;
  const [left, width] = [Math.min(x, x + length), Math.abs(length)];
  if (!second) {
    painter.fillStyle = color;
    painter.fillRect(left, top, width, height);
    return;
  }
  hatch(painter, color, left, top, width, height);
  if (width < 1) return;
  painter.strokeStyle = color;
  painter.lineWidth = 1;
  painter.strokeRect(left + 0.5, top + 0.5, Math.max(0, width - 1), height - 1);
}

/** Paint an outline as long as the model's own bar. */
function outline({ painter, palette }: Canvas, x: number, length: number, place: Box): void {
  const [left, width] = [Math.min(x, x + length), Math.abs(length)];
  if (width < 1) return;
  painter.strokeStyle = palette.text;
  painter.lineWidth = 1;
  painter.strokeRect(left + 0.5, place.top + 0.5, Math.max(0.5, width - 1), place.height - 1);
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
