/** Paints the bars and numbers of the neuron view: bias, score and softmax weight of each key. */

import { type Explanation, type Reading, sees } from "../../data/explanation.ts";
import type { Range } from "../../parts/range.ts";
import { number, weight } from "../../parts/text.ts";
import type { Bars } from "./layout.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import { band, type Canvas, hatch } from "./strips.ts";

/** The columns of bars; only the softmax without scores. */
export interface BarColumns {
  readonly bias: Bars | null;
  readonly scores: Bars | null;
  readonly weights: Bars;
}

/** The model's number, and the one that results from muted neurons. */
interface Change {
  readonly own: number;
  readonly now: number;
}

/** The numbers of one query in a row. */
interface Row {
  readonly bias: number | null;
  readonly score: Change;
  readonly weight: Change;
}

/** The place of one query's bars in a row. */
interface Place {
  readonly top: number;
  readonly height: number;
  /** True for the compared query, whose bars are hatched. */
  readonly second: boolean;
}

/** The least height of a row for the larger font. */
const ROOMY = 16;

/** The scores; without them, q · k. */
export const logits = ({ scores, dots }: Reading): ArrayLike<number> => scores ?? dots;

export function paintBars(canvas: Canvas, facts: QueryAnalysis, columns: BarColumns): void {
  const { painter, rowHeight, palette } = canvas;
  const compared = [facts.explanation.value, facts.comparison.value].filter((one) => one !== null);
  const parts = compared.map((one) => rowsOf(facts, one, canvas.range));
  const largest = magnitudesOf(facts, compared);
  painter.textBaseline = "middle";
  painter.font = `${rowHeight / parts.length < ROOMY ? 11 : 12}px system-ui, sans-serif`;
  for (const column of [columns.bias, columns.scores]) {
    if (!column) continue;
    painter.fillStyle = palette.border;
    const [first] = canvas.range;
    const height = parts[0].length * rowHeight;
    painter.fillRect(Math.round(zeroOf(column)), band(rowHeight, first)[0], 1, height);
  }
  parts.forEach((part, at) => {
    part.forEach((row, index) => {
      const [top, height] = band(rowHeight, canvas.range[0] + index, at, parts.length);
      const place = { top, height, second: at > 0 };
      if (!row) {
        if (columns.scores) label(canvas, "masked", columns.scores.end, place);
        return;
      }
      if (columns.bias && row.bias !== null) {
        signed(canvas, columns.bias, { own: row.bias, now: row.bias }, largest.bias, place);
      }
      if (columns.scores) signed(canvas, columns.scores, row.score, largest.score, place);
      share(canvas, columns.weights, row.weight, place);
    });
  });
}

/** The largest magnitudes of all rows, including those that are not painted. */
export function magnitudesOf(facts: QueryAnalysis, compared: readonly Explanation[]) {
  const { data, shown, head } = facts;
  let [bias, score] = [1e-9, 1e-9];
  for (const one of compared) {
    const [own, now] = [logits(one.original), logits(one.shown)];
    for (const key of shown.keys) {
      if (!sees(one, key)) continue;
      if (one.bias) bias = Math.max(bias, finite(one.bias[key]));
      score = Math.max(score, finite(own[key]), finite(now[key]));
    }
  }
  return { bias, score: Math.max(score, finite(data.sink(head.value) ?? 0)) };
}

/**
 * The numbers of every painted key, null if the query cannot see it; then those of the sink, if
 * there is one.
 */
function rowsOf(
  { data, shown, head }: QueryAnalysis,
  one: Explanation,
  [first, end]: Range,
): readonly (Row | null)[] {
  const rows = shown.keys.slice(first, end).map((key): Row | null => {
    if (!sees(one, key)) return null;
    return {
      bias: one.bias?.[key] ?? null,
      score: { own: logits(one.original)[key], now: logits(one.shown)[key] },
      weight: { own: one.original.weights[key], now: one.shown.weights[key] },
    };
  });
  const sink = data.sink(head.value);
  if (sink === null || one.original.sink === null || one.shown.sink === null) return rows;
  if (end <= shown.keys.length) return rows;
  const score = { own: sink, now: sink };
  return [...rows, { bias: null, score, weight: { own: one.original.sink, now: one.shown.sink } }];
}

const finite = (value: number) => (Number.isFinite(value) ? Math.abs(value) : 0);

const zeroOf = ({ left, width }: Bars) => left + width / 2;

/** Paint a number as a bar from the middle, positive to the right, negative to the left. */
function signed(
  canvas: Canvas,
  column: Bars,
  { own, now }: Change,
  largest: number,
  place: Place,
): void {
  const { palette } = canvas;
  const zero = zeroOf(column);
  const reach = (value: number) => (value / largest) * (column.width / 2);
  bar(canvas, zero, reach(now), now < 0 ? palette.negative : palette.positive, place);
  if (own !== now) ghost(canvas, zero, reach(own), place);
  label(canvas, number(now), column.end, place);
}

/** Paint a weight from 0 to 1 as a bar with its number. */
function share(canvas: Canvas, column: Bars, { own, now }: Change, place: Place): void {
  bar(canvas, column.left, now * column.width, canvas.palette.positive, place);
  if (own !== now) ghost(canvas, column.left, own * column.width, place);
  const { painter } = canvas;
  const text = weight(now);
  const after = column.left + Math.max(own, now) * column.width + 6;
  label(canvas, text, after + painter.measureText(text).width, place);
}

function bar({ painter }: Canvas, x: number, length: number, color: string, place: Place): void {
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
function ghost({ painter, palette }: Canvas, x: number, length: number, place: Place): void {
  const [left, width] = [Math.min(x, x + length), Math.abs(length)];
  if (width < 1) return;
  painter.strokeStyle = palette.text;
  painter.lineWidth = 1;
  painter.strokeRect(left + 0.5, place.top + 0.5, Math.max(0.5, width - 1), place.height - 1);
}

function label({ painter, palette }: Canvas, text: string, end: number, place: Place): void {
  painter.fillStyle = palette.muted;
  painter.textAlign = "right";
  painter.fillText(text, end, place.top + place.height / 2 + 1);
  painter.textAlign = "left";
}
