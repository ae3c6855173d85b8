/** The layout of the two columns of tokens, and of the ends of their lines. */

import { columnWidth, fontOf, textMeasure } from "../../parts/text.ts";
import { PADDING, rowHeight, tokenFontSize } from "../../parts/tokens.ts";
import { type Track, trackOf, uniformTrack } from "../../parts/track.ts";
import type { Side } from "../../state/state.ts";
import type { Axes } from "./axes.ts";

export interface Column {
  /** The positions of the labels, and of the ends of their lines (of the whole text). */
  readonly labels: Track;
  readonly ends: Track;
  /** True if the column scrolls. */
  readonly long: boolean;
  /** The width of a column, or the height of a line. */
  readonly across: number;
  readonly fontSize: number;
}

export interface ColumnsOptions {
  readonly axes: Axes;
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly horizontal: boolean;
}

/** The width of the minimap of a column that scrolls. */
export const MINIMAP_WIDTH = 42;

/** The height of a row of a long text, and of its column. */
const LONG_ROW = 18;
export const LONG = 720;

/** The height of a row that can still be read. */
export const LOWEST_ROW = 14;

/** A column scrolls by itself if its lowest rows take more than this many times its height. */
const IN_FULL = 2;

/** Horizontal: the height and distance of the lines, and the bounds of a token's width. */
const LINE = 30;
const BETWEEN = 230;
const NARROWEST = 26;
const WIDEST = 160;

/** Vertical: the gap beside a column, and the bounds of the distance between the columns. */
const GAP = 6;
const LINES_AT_MOST = 520;
const LINES_AT_LEAST = 110;

const isLongOn = (axes: Axes, side: Side) => axes[side].shown.length * LOWEST_ROW > IN_FULL * LONG;

/** True if either column scrolls. */
export const isLong = (axes: Axes): boolean => isLongOn(axes, "query") || isLongOn(axes, "key");

export function columnsOf(options: ColumnsOptions) {
  const { axes, width, height, horizontal } = options;
  const long = (side: Side) => isLongOn(axes, side);
  const anyLong = isLong(axes);
  const labels = { query: labelsOn("query"), key: labelsOn("key") };
  const inFull = (["query", "key"] as const).filter((side) => !long(side));
  const whole = anyLong ? (horizontal ? width : height) : 0;
  const length = Math.max(whole, ...inFull.map((side) => labels[side].length));
  const minimaps = anyLong ? 2 * MINIMAP_WIDTH : 0;
  const columns = { query: columnOn("query"), key: columnOn("key") };
  const available = width - minimaps - columns.query.across - columns.key.across - 2 * GAP;
  return {
    columns,
    /** The extent along the tokens, in CSS pixels. */
    length,
    across: horizontal ? BETWEEN : Math.max(LINES_AT_LEAST, Math.min(LINES_AT_MOST, available)),
  };

  function fontSize(side: Side): number {
    return horizontal ? 14 : tokenFontSize(rowOn(side));
  }

  function rowOn(side: Side): number {
    if (long(side)) return LONG_ROW;
    // Beside a long column, rows need not align.
    return anyLong ? rowHeight(axes[side].shown.length, LOWEST_ROW) : options.rowHeight;
  }

  function labelsOn(side: Side): Track {
    const { shown, units } = axes[side];
    if (!horizontal) return uniformTrack(shown.length, rowOn(side));
    const measure = textMeasure(fontOf(fontSize(side), 600));
    // Measured once per label.
    const widths = new Map<string, number>();
    for (const label of new Set(shown.map((unit) => units.labels[unit]))) {
      const text = Math.ceil(measure(label)) + 2 * PADDING;
      widths.set(label, Math.min(WIDEST, Math.max(NARROWEST, text)));
    }
    return trackOf(shown.map((unit) => widths.get(units.labels[unit]) ?? NARROWEST));
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
    const names = shown.map((unit) => units.labels[unit]);
    const most = Math.max(84, Math.min(180, (width - minimaps) * 0.24));
    return columnWidth(names, fontSize(side), [56, most]);
  }
}
