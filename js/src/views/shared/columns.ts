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
  const anyLong = isLong(axes);
  const minimaps = anyLong ? 2 * MINIMAP_WIDTH : 0;
  const widest = Math.max(84, Math.min(180, (width - minimaps) * 0.24));
  const labelled = (side: Side) => {
    const { shown, units } = axes[side];
    const long = isLongOn(axes, side);
    // Beside a long column, rows need not align.
    const short = anyLong ? rowHeight(shown.length, LOWEST_ROW) : options.rowHeight;
    const row = long ? LONG_ROW : short;
    const fontSize = horizontal ? 14 : tokenFontSize(row);
    const names = shown.map((unit) => units.labels[unit]);
    const labels = horizontal
      ? trackOf(widthsOf(names, fontSize))
      : uniformTrack(names.length, row);
    const across = horizontal ? LINE : columnWidth(names, fontSize, [56, widest]);
    return { labels, long, across, fontSize };
  };
  const [query, key] = [labelled("query"), labelled("key")];
  const whole = anyLong ? (horizontal ? width : height) : 0;
  const inFull = [query, key].filter(({ long }) => !long);
  const length = Math.max(whole, ...inFull.map(({ labels }) => labels.length));
  const available = width - minimaps - query.across - key.across - 2 * GAP;
  const withEnds = (column: ReturnType<typeof labelled>): Column => {
    const { long, labels } = column;
    return { ...column, ends: long ? uniformTrack(labels.count, length / labels.count) : labels };
  };
  return {
    columns: { query: withEnds(query), key: withEnds(key) },
    /** The extent along the tokens, in CSS pixels. */
    length,
    across: horizontal ? BETWEEN : Math.max(LINES_AT_LEAST, Math.min(LINES_AT_MOST, available)),
  };
}

/** The widths of tokens side by side, each measured once. */
function widthsOf(labels: readonly string[], fontSize: number): readonly number[] {
  const measure = textMeasure(fontOf(fontSize, 600));
  const widths = new Map<string, number>();
  for (const label of new Set(labels)) {
    const text = Math.ceil(measure(label)) + 2 * PADDING;
    widths.set(label, Math.min(WIDEST, Math.max(NARROWEST, text)));
  }
  return labels.map((label) => widths.get(label) ?? NARROWEST);
}
