/** The middle of the head view: all lines, or those of what is looked at with strips beside them. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import { otherSide } from "../state/locks.ts";
import type { Side } from "../state/state.ts";
import { type Palette, rgb } from "../styles/theme.ts";
import type { Axes } from "../views/shared/axes.ts";
import { type Columns, tipAt } from "./columns.ts";
import type { Layout } from "./scene.ts";
import { drawnShare, hexadecimal, mixed } from "./text.ts";

/** Weights below this are not drawn, nor more lines than a file should hold. */
const FAINTEST = 0.0005;
const MOST = 2000;
/** Of more tokens, neighbours share a line. */
const APART = 64;
const THINNEST = 0.9;
const THICKER = 1.6;
/** The mean opacity of all lines together, at most. */
const DENSEST = 0.45;

const STRIP = 9;
const STRIPS_AT_MOST = 0.3;
const WIDEST = 7;
const OF_ROW = 0.85;
const RIBBON = 1.2;
const TRACE = 0.05;
/** More strips than these are a picture. */
const RECTS = 800;
const STRIP_ROWS = 360;

/** Where each of at most so many groups of `count` neighbours begins, and the last one ends. */
export function pooledBounds(count: number, most: number): readonly number[] {
  const groups = Math.min(count, most);
  return Array.from({ length: groups + 1 }, (_, at) => Math.floor((at * count) / groups));
}

/** By place, the group that it is in. */
export function groupsOf(bounds: readonly number[]): readonly number[] {
  return bounds.slice(1).flatMap((end, n) => Array<number>(end - bounds[n]).fill(n));
}

/** One line per pair, in the colours of the heads that are strongest there; says what is drawn. */
export function allLines(
  body: Layout,
  axes: Axes,
  columns: Columns,
  matrices: readonly AttentionMatrix[],
  colors: readonly string[],
): string {
  const [queries, keys] = [axes.query.shown, axes.key.shown];
  const [tops, lefts] = [pooledBounds(queries.length, APART), pooledBounds(keys.length, APART)];
  const [rowOf, keyOf, across] = [groupsOf(tops), groupsOf(lefts), lefts.length - 1];
  const count = (tops.length - 1) * across;
  const [most, given, parts] = [0, 0, 0].map(() => new Float64Array(count));
  const inks = new Float64Array(3 * count);
  let total = 0;
  matrices.forEach((matrix, n) => {
    const pooled = new Float64Array(count);
    queries.forEach((query, row) => {
      const weights = matrix.row(query, true);
      total += weights.reduce((sum, weight) => sum + weight, 0);
      keys.forEach((key, at) => {
        pooled[rowOf[row] * across + keyOf[at]] += weights[key];
      });
    });
    const ink = rgb(colors[n]);
    pooled.forEach((sum, at) => {
      const row = Math.floor(at / across);
      const weight = sum / (tops[row + 1] - tops[row]);
      given[at] += sum;
      most[at] = Math.max(most[at], weight);
      // The strongest heads give the colour: the plain mean of twelve colours is none.
      parts[at] += weight ** 3;
      for (let c = 0; c < 3; c++) inks[3 * at + c] += weight ** 3 * ink[c];
    });
  });

  const drawn = strongest(most);
  const middle = (ends: readonly number[], bounds: readonly number[], at: number) =>
    (ends[bounds[at]] + ends[bounds[at + 1]]) / 2;
  let [covered, shown] = [0, 0];
  const lines = drawn.map((at) => {
    const weight = Math.min(1, most[at]);
    const from = middle(columns.query.ends, tops, Math.floor(at / across));
    const to = middle(columns.key.ends, lefts, at % across);
    const width = THINNEST + THICKER * weight;
    covered += width * weight * Math.hypot(1, (to - from) / columns.across);
    shown += given[at];
    const ink = [0, 1, 2].map((c) => inks[3 * at + c] / (parts[at] || 1));
    const color = `#${hexadecimal(ink as unknown as readonly [number, number, number])}`;
    return { from, to, width, weight, color };
  });
  const light = covered ? Math.min(1, (DENSEST * columns.length) / covered) : 1;
  for (const { from, to, width, weight, color } of lines) {
    body.bend([0, from, columns.across, to], color, width, { opacity: weight * light });
  }
  const pooling =
    count === queries.length * keys.length
      ? ""
      : `each line of up to ${Math.ceil(queries.length / APART)} × ${Math.ceil(keys.length / APART)} tokens`;
  return [drawnShare(total ? (100 * shown) / total : 100), pooling].filter(Boolean).join(" · ");
}

/** The places of the largest values, as many as are drawn, in order. */
function strongest(values: ArrayLike<number>): readonly number[] {
  const visible = Array.from(values, (_, at) => at).filter((at) => values[at] >= FAINTEST);
  if (visible.length <= MOST) return visible;
  const largest = visible.sort((a, b) => values[b] - values[a] || a - b).slice(0, MOST);
  return largest.sort((a, b) => a - b);
}

/** From what is looked at to every token of the other side; says what is drawn. */
export function ribbons(
  body: Layout,
  axes: Axes,
  columns: Columns,
  side: Side,
  from: readonly number[],
  strips: readonly Float32Array[],
  colors: readonly string[],
  palette: Palette,
): string {
  const [own, other] = [axes[side], axes[otherSide(side)]];
  const [nearColumn, column] = [columns[side], columns[otherSide(side)]];
  const inset = Math.min(STRIP * strips.length, columns.across * STRIPS_AT_MOST);
  const [near, far] = side === "query" ? [0, columns.across - inset] : [columns.across, inset];
  const table = strips.map((strip) => other.shown.map((unit) => strip[unit]));
  const totals = other.shown.map((_, at) => table.reduce((sum, row) => sum + row[at], 0));
  const largest = Math.max(1, ...table.map((row) => Math.max(...row)));
  const narrowest = Math.min(...other.shown.map((_, at) => column.ends[at + 1] - column.ends[at]));
  const widest = Math.min(WIDEST, (OF_ROW * narrowest) / Math.max(1, ...totals));
  const count = other.shown.length;
  const flat = table.flat();
  const drawn = strongest(flat);
  let shown = 0;
  for (const n of drawn) {
    const [matrix, at] = [Math.floor(n / count), n % count];
    const weight = flat[n];
    let below = 0;
    for (let upTo = 0; upTo <= matrix; upTo++) below += table[upTo][at];
    const to = tipAt(column, at) - (widest * totals[at]) / 2 + widest * (below - weight / 2);
    shown += weight;
    for (const unit of from) {
      const start = tipAt(nearColumn, own.places[unit]);
      const width = Math.max(RIBBON, widest * weight);
      const opacity = (weight / largest) ** 0.75;
      body.bend([near, start, far, to], colors[matrix], width, { opacity });
    }
  }
  const stripes = body.at(side === "query" ? far : 0, 0);
  const shares = table.map((row) => row.map((weight) => weight / largest));
  paintStrips(stripes, column.ends, shares, inset / strips.length, colors, palette);
  const total = strips.reduce((sum, strip) => strip.reduce((all, one) => all + one, sum), 0);
  // Nothing, where a query sees no key or gives all to a sink.
  return drawnShare(total ? (100 * shown) / total : 100);
}

/** Beside the tokens, how much each gets of every head. */
function paintStrips(
  body: Layout,
  ends: readonly number[],
  table: readonly (readonly number[])[],
  stripe: number,
  colors: readonly string[],
  palette: Palette,
): void {
  const [count, length] = [table[0].length, ends[ends.length - 1]];
  if (table.length * count <= RECTS) {
    colors.forEach((fill, matrix) => {
      body.rect(matrix * stripe, 0, stripe, length, { fill, opacity: TRACE });
      table[matrix].forEach((share, at) => {
        if (share < FAINTEST) return;
        const height = ends[at + 1] - ends[at] - 2;
        const look = { fill, opacity: share ** 0.75 };
        body.rect(matrix * stripe, ends[at] + 1, stripe, height, look);
      });
    });
    return;
  }
  const bounds = pooledBounds(count, STRIP_ROWS);
  const pixels = bounds.slice(1).flatMap((end, row) =>
    colors.map((color, matrix) => {
      const largest = Math.max(...table[matrix].slice(bounds[row], end));
      return mixed(palette.background, color, Math.max(TRACE, largest ** 0.75));
    }),
  );
  body.cells(0, 0, stripe * colors.length, length, colors.length, pixels.join(""));
}
