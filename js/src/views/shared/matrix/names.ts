/** The labels of an axis: of every row or column, or of some with their positions. */

import type { Painter } from "../../../painting/painter.ts";
import { fontOf, roundStep, shorten, textMeasure } from "../../../parts/text.ts";
import type { Palette } from "../../../styles/palette.ts";
import type { Axis } from "../axes.ts";

/** The least cell to label every row and column. */
export const NAMES_FROM = 10;

/** The least distance of labels at round positions, and the length of their ticks. */
const TICKS_APART = 24;
const TICK = 3;

/** The least width of a shortened label, in CSS pixels. */
const LEAST_LABEL = 26;

/** The space between a label and the matrix. */
const GAP = 5;

/**
 * Returns a function that paints the labels of an axis: of rows left of x = 0, from top to bottom; of
 * columns, which are rotated to read upwards, right of it. The part that is shown starts at `from` in
 * cells, and has a length in CSS pixels.
 *
 * @param available width of a label, in CSS pixels
 */
export function axisNames({ side, units, shown }: Axis, available: number) {
  const sign = side === "query" ? -1 : 1;
  // Cached, since measuring and shortening would slow down moving.
  let cache = { font: "", texts: new Map<string, string>() };
  const textOf = (unit: number, all: boolean, font: string) => {
    if (cache.font !== font) cache = { font, texts: new Map() };
    const label = units.labels[unit];
    const key = all ? label : `${unit} ${label}`;
    const before = cache.texts.get(key);
    if (before !== undefined) return before;
    const measure = textMeasure(font);
    // Between ticks, the position in full, and as much of the label as fits.
    const place = all ? "" : `${unit} `;
    const rest = available - 2 * GAP - (all ? 0 : TICK + measure(place));
    const short = all || rest >= LEAST_LABEL ? shorten(label, rest, measure) : "";
    const text = short ? `${place}${short}` : place.trim();
    cache.texts.set(key, text);
    return text;
  };
  return (painter: Painter, palette: Palette, cell: number, from: number, length: number) => {
    const all = cell >= NAMES_FROM;
    const every = all ? 1 : Math.max(1, roundStep(TICKS_APART / cell));
    const font = fontOf(all ? Math.min(12, cell * 0.85) : 11);
    painter.fillStyle = palette.muted;
    painter.font = font;
    painter.textBaseline = "middle";
    painter.textAlign = sign < 0 ? "right" : "left";
    // Label cells that are cut off as long as their middle is visible.
    const end = Math.min(shown.length, Math.ceil(from + length / cell - 0.5));
    for (let at = Math.ceil(from - 0.5); at < end; at++) {
      const unit = shown[at];
      if (unit % every) continue;
      const middle = (at + 0.5 - from) * cell;
      if (!all) painter.fillRect(1.5 * sign, middle - 0.5, TICK * sign, 1);
      painter.fillText(textOf(unit, all, font), sign * (all ? GAP : GAP + TICK - 1), middle);
    }
  };
}
