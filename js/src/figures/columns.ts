/** Where the tokens of both sides stand, and where the ends of their lines. */

import { largestOf } from "../data/extremes.ts";
import { rowHeight, tokenFontSize } from "../parts/tokens.ts";
import { otherSide } from "../state/locks.ts";
import type { Side } from "../state/state.ts";
import { type Axes, type Look, sameColumns } from "../views/shared/axes.ts";
import { IN_FULL, LONG, LONG_ROW } from "../views/shared/columns.ts";
import { clean, textWidth } from "./text.ts";

/** Of a long text lying on its side. */
const LONG_LINE = 1000;

/** Tokens side by side: height of a line, room between the lines, and the widths of a token. */
const LINE = 30;
const BETWEEN = 230;
const TOKEN_WIDTHS = [26, 160] as const;
/** Tokens below each other: widths of a column, and room between the columns. */
const COLUMN_WIDTHS = [56, 180] as const;
const ACROSS = 330;
export const PADDING = 8;
export const GAP = 6;
/** Beside the labels of a long side: a funnel, and a strip of the whole. */
export const FUNNEL = 30;
export const STRIP = 12;

export interface Column {
  /** Where each label begins, and the last one ends; the same for the ends of their lines. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** The places whose labels are in sight. */
  readonly first: number;
  readonly end: number;
  readonly long: boolean;
  readonly across: number;
  readonly font: number;
}

export interface Columns extends Readonly<Record<Side, Column>> {
  readonly length: number;
  readonly across: number;
}

/** The middle of a label in sight. */
export const labelAt = ({ starts, first }: Column, at: number) =>
  (starts[at] + starts[at + 1]) / 2 - starts[first];

/** The middle of where lines end. */
export const tipAt = ({ ends }: Column, at: number) => (ends[at] + ends[at + 1]) / 2;

export const railOf = ({ long }: Column) => (long ? FUNNEL + STRIP : 0);

/** @param begin where either column of a long text begins in the view, where that is known. */
export function columnsOf(
  axes: Axes,
  look: Look,
  lying: boolean,
  begin: Readonly<Record<Side, number | null>>,
): Columns {
  const counts = { query: axes.query.shown.length, key: axes.key.shown.length };
  const most = Math.max(counts.query, counts.key);
  const together = sameColumns(axes);
  const laid = { query: layOut("query"), key: layOut("key") };
  const full = (["query", "key"] as const)
    .filter((side) => counts[side] <= IN_FULL)
    .map((side) => laid[side].starts[counts[side]]);
  const length = Math.max(most > IN_FULL ? (lying ? LONG_LINE : LONG) : 0, ...full);
  return {
    query: column("query"),
    key: column("key"),
    length,
    across: lying ? BETWEEN : ACROSS,
  };

  function layOut(side: Side) {
    const { shown, units } = axes[side];
    const own = most > IN_FULL ? counts[side] : most;
    const row = counts[side] > IN_FULL ? LONG_ROW : rowHeight(own);
    const font = lying ? 14 : tokenFontSize(row);
    const size = (unit: number) =>
      lying ? within(labelWidth(units.labels[unit], font) + 2 * PADDING, TOKEN_WIDTHS) : row;
    return { starts: startsOf(shown.map(size)), font };
  }

  function column(side: Side): Column {
    const { shown, units, places } = axes[side];
    const { starts, font } = laid[side];
    const long = counts[side] > IN_FULL;
    let [first, end]: readonly [number, number] = [0, counts[side]];
    if (long) {
      const [own, other] = [look[side], together ? look[otherSide(side)] : []];
      const anchor = places[(own.length ? own : other)[0] ?? -1] ?? 0;
      const from = begin[side];
      const start =
        from === null
          ? (starts[anchor] + starts[anchor + 1]) / 2 - length / 2
          : starts[Math.max(0, places[units.of[Math.floor(from)]])] + (from % 1) * LONG_ROW;
      [first, end] = windowFrom(starts, length, start);
    }
    const widest = largestOf(shown.map((unit) => labelWidth(units.labels[unit], font)));
    return {
      starts,
      ends: long ? starts.map((_, at) => (length * at) / counts[side]) : starts,
      ...{ first, end, long, font },
      across: lying ? LINE : within(widest + 2 * PADDING, COLUMN_WIDTHS),
    };
  }
}

/** One after the other, from 0 on; the last is where all end. */
export function startsOf(sizes: readonly number[]): readonly number[] {
  const starts = [0];
  for (const size of sizes) starts.push(starts[starts.length - 1] + size);
  return starts;
}

/** The places that fit into a length from about a start on. */
function windowFrom(starts: readonly number[], length: number, start: number): [number, number] {
  const begin = Math.max(0, Math.min(starts[starts.length - 1] - length, start));
  const first = starts.findIndex((from) => from >= begin - 1e-6);
  let end = first;
  while (end + 1 < starts.length && starts[end + 1] - starts[first] <= length + 1e-6) end++;
  return [first, end];
}

const labelWidth = (label: string, font: number) => textWidth(clean(label), font, true);

const within = (value: number, [least, most]: readonly [number, number]) =>
  Math.min(most, Math.max(least, value));
