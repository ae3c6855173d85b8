/** What stands beside a matrix: the name of every row and column, or of some of them with their place. */

import type { Painter } from "../../../painting/painter.ts";
import { shorten, textMeasure } from "../../../parts/text.ts";
import type { Palette } from "../../../styles/palette.ts";
import type { Axis } from "../axes.ts";

/** Names of all need cells at least this large. */
export const NAMES_FROM = 10;

/** What is not named has a tick at round places, this far apart at least. */
const TICKS_APART = 24;
const TICK = 3;

/** Less of a label than this, in CSS pixels, says nothing. */
const LEAST_LABEL = 26;

/** Between a name and the matrix. */
const GAP = 5;

export interface AxisNames {
  /**
   * @param from where on the side the part begins that is shown, in cells.
   * @param length of this part, in CSS pixels.
   */
  paint(painter: Painter, palette: Palette, cell: number, from: number, length: number): void;
}

/**
 * Names of rows to the left of x = 0, one below the other; those of columns, which are turned to read
 * upwards, to the right of it.
 *
 * @param room what there is for a name, in CSS pixels.
 */
export function axisNames({ side, units, shown }: Axis, room: number): AxisNames {
  const away = side === "query" ? -1 : 1;
  // Measuring and shortening is what takes time while a part is moved.
  let known = { font: "", texts: new Map<string, string>() };
  const textOf = (unit: number, all: boolean, font: string) => {
    if (known.font !== font) known = { font, texts: new Map() };
    const label = units.labels[unit];
    const key = all ? label : `${unit} ${label}`;
    const before = known.texts.get(key);
    if (before !== undefined) return before;
    const made = all
      ? shorten(label, room - 2 * GAP, textMeasure(font))
      : placed(unit, label, font);
    known.texts.set(key, made);
    return made;
  };
  /** The number in full, and as much of the label as there is room for. */
  const placed = (unit: number, label: string, font: string) => {
    const measure = textMeasure(font);
    const rest = room - 2 * GAP - TICK - measure(`${unit} `);
    return rest < LEAST_LABEL ? `${unit}` : `${unit} ${shorten(label, rest, measure)}`;
  };
  return {
    paint(painter, palette, cell, from, length) {
      const all = cell >= NAMES_FROM;
      const every = all ? 1 : roundStep(TICKS_APART / cell);
      const font = `${all ? Math.min(12, cell * 0.85) : 11}px system-ui, sans-serif`;
      painter.fillStyle = palette.muted;
      painter.font = font;
      painter.textBaseline = "middle";
      painter.textAlign = away < 0 ? "right" : "left";
      // Of those cut off, the ones whose middle can be seen.
      const end = Math.min(shown.length, Math.ceil(from + length / cell - 0.5));
      for (let at = Math.ceil(from - 0.5); at < end; at++) {
        const unit = shown[at];
        if (unit % every) continue;
        const middle = (at + 0.5 - from) * cell;
        if (!all) painter.fillRect(1.5 * away, middle - 0.5, TICK * away, 1);
        painter.fillText(textOf(unit, all, font), away * (all ? GAP : GAP + TICK - 1), middle);
      }
    },
  };
}

/** The next larger of 1, 2, 5, 10, 20, 50 … */
export function roundStep(least: number): number {
  const unit = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((factor) => factor * unit >= least) as number;
  return Math.max(1, step * unit);
}
