/** Where the tokens of both sides stand, and where the ends of their lines. */

import { columnWidth, textMeasure } from "../../parts/text.ts";
import { PADDING } from "../../parts/token-list.ts";
import { rowHeight, tokenFontSize } from "../../parts/tokens.ts";
import { type Track, trackOf, uniformTrack } from "../../parts/track.ts";
import type { Side } from "../../state/state.ts";
import type { Axes } from "./axes.ts";
import { MINIMAP_WIDTH } from "./minimap.ts";

export interface Column {
  /** The labels, and the ends of their lines: beside them, or those of the whole text in its place. */
  readonly labels: Track;
  readonly ends: Track;
  /** Whether only a part of its labels is in sight. */
  readonly long: boolean;
  /** Width of a column, or height of a line. */
  readonly across: number;
  readonly fontSize: number;
}

export interface Columns {
  readonly columns: Readonly<Record<Side, Column>>;
  /** Along the tokens, in CSS pixels. */
  readonly length: number;
  /** From the queries to the keys. */
  readonly across: number;
}

export interface ColumnsOptions {
  readonly axes: Axes;
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly horizontal: boolean;
}

/** Up to so many tokens stand there in full. */
export const IN_FULL = 64;

/** Rows of a long text, and height of its columns. */
export const LONG_ROW = 18;
export const LONG = 720;

/** Tokens side by side: height of a line, room between the lines, and the widths of a token. */
const LINE = 30;
const BETWEEN = 230;
const NARROWEST = 26;
const WIDEST = 160;

/** Tokens below each other: room between the columns. */
const GAP = 6;
const LINES_AT_MOST = 520;
const LINES_AT_LEAST = 110;

const isLongOn = (axes: Axes, side: Side) => axes[side].shown.length > IN_FULL;

/** Whether any side is too long to stand there in full. */
export const isLong = (axes: Axes): boolean => isLongOn(axes, "query") || isLongOn(axes, "key");

export function columnsOf(options: ColumnsOptions): Columns {
  const { axes, width, height, horizontal } = options;
  const long = (side: Side) => isLongOn(axes, side);
  const anyLong = isLong(axes);
  const labels = { query: labelsOn("query"), key: labelsOn("key") };
  const inFull = (["query", "key"] as const).filter((side) => !long(side));
  const whole = anyLong ? (horizontal ? width : height) : 0;
  const length = Math.max(whole, ...inFull.map((side) => labels[side].length));
  const columns = { query: columnOn("query"), key: columnOn("key") };
  const beside = columns.query.across + columns.key.across + (anyLong ? 2 * MINIMAP_WIDTH : 0);
  const room = width - beside - 2 * GAP;
  return {
    columns,
    length,
    across: horizontal ? BETWEEN : Math.max(LINES_AT_LEAST, Math.min(LINES_AT_MOST, room)),
  };

  function fontSize(side: Side): number {
    return horizontal ? 14 : tokenFontSize(rowOn(side));
  }

  function rowOn(side: Side): number {
    if (long(side)) return LONG_ROW;
    // Beside a long one there is nothing that it has to stand in line with.
    return anyLong ? rowHeight(axes[side].shown.length) : options.rowHeight;
  }

  function labelsOn(side: Side): Track {
    const { shown, units } = axes[side];
    if (!horizontal) return uniformTrack(shown.length, rowOn(side));
    const measure = textMeasure(`600 ${fontSize(side)}px system-ui, sans-serif`);
    const known = new Map<string, number>();
    const size = (label: string) => {
      const text = Math.ceil(measure(label)) + 2 * PADDING;
      return Math.min(WIDEST, Math.max(NARROWEST, text));
    };
    return trackOf(
      shown.map((unit) => {
        const label = units.labels[unit];
        const found = known.get(label) ?? size(label);
        known.set(label, found);
        return found;
      }),
    );
  }

  function columnOn(side: Side): Column {
    const count = axes[side].shown.length;
    return {
      labels: labels[side],
      ends: long(side) ? uniformTrack(count, length / count) : labels[side],
      long: long(side),
      across: acrossOn(side),
      fontSize: fontSize(side),
    };
  }

  function acrossOn(side: Side): number {
    if (horizontal) return LINE;
    const { shown, units } = axes[side];
    const bounds: [number, number] = [56, Math.max(72, Math.min(180, width * 0.24))];
    return columnWidth(
      shown.map((unit) => units.labels[unit]),
      fontSize(side),
      bounds,
    );
  }
}
