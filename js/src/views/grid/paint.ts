/** Paints a grid: its cells with their numbers, and the labels of rows and columns. */

import type { Painter } from "../../painting/painter.ts";
import { columnWidth, fontOf, number, shorten, textMeasure } from "../../parts/text.ts";
import { luminance, mixed, type Palette, rgb } from "../../styles/palette.ts";
import type { GridCells } from "./cells.ts";

/** The size of the letters of labels. */
const LABEL = 12;
/** The least cell with a number. */
const ROOM = { across: 33, down: 14 } as const;
/** The bounds of a cell. */
const ACROSS = [9, 80] as const;
const DOWN = [12, 26] as const;
/** The share of the full colour from which a cell without a null and a number has its sign. */
const FAINT = 0.1;
/** The space above short labels, which lie, and the most above long ones, which stand. */
const LYING = 20;
const STANDING = 110;

type GridLayout = ReturnType<typeof gridLayout>;

const within = (value: number, [least, most]: readonly [number, number]) =>
  Math.floor(Math.min(Math.max(value, least), most));

export function gridLayout(
  { grid: { rows, columns, axes } }: GridCells,
  width: number,
  height: number,
) {
  const left = columnWidth(
    rows.map(([label]) => label),
    LABEL,
    [24, 80],
  );
  const stands = axes[1] === "position";
  const top = stands ? columnWidth(columns, LABEL, [LYING, STANDING]) : LYING;
  const across = axes[1] ? within((width - left) / columns.length, ACROSS) : ACROSS[1];
  const down = within((height - top) / rows.length, DOWN);
  return {
    left,
    top,
    across,
    down,
    stands,
    /** True if cells have room for their numbers; the marked ones have a plus or a minus without. */
    numbered: across >= ROOM.across && down >= ROOM.down,
    width: columns.length * across,
    height: rows.length * down,
  };
}

/** The decimals of numbers in cells. */
export const digitsIn = ({ grid }: GridCells) => Math.min(grid.digits, 2);

/** The colour of a share of the peak, −1 to 1. */
export const cellColor = (share: number, { panel, positive, negative }: Palette): string =>
  mixed(panel, share < 0 ? negative : positive, Math.min(1, Math.abs(share)));

/** Paint the labels of rows, right-aligned in a column of their own. */
export function paintRows(
  painter: Painter,
  { grid: { rows } }: GridCells,
  { left, down }: GridLayout,
  { muted }: Palette,
): void {
  painter.textBaseline = "middle";
  painter.textAlign = "right";
  painter.font = fontOf(Math.min(LABEL, down));
  painter.fillStyle = muted;
  rows.forEach(([label], row) => {
    painter.fillText(label, left - 6, (row + 0.5) * down);
  });
}

/** Paint the labels of columns: tokens stand, and numbers lie. */
export function paintColumns(
  painter: Painter,
  { grid: { columns } }: GridCells,
  { top, across, stands }: GridLayout,
  { muted }: Palette,
): void {
  const font = fontOf(Math.min(LABEL, across));
  const measure = textMeasure(font);
  painter.font = font;
  painter.fillStyle = muted;
  painter.textBaseline = "middle";
  painter.textAlign = stands ? "left" : "center";
  columns.forEach((label, column) => {
    const text = stands ? shorten(label, top - 8, measure) : label;
    painter.save();
    painter.translate((column + 0.5) * across, stands ? top - 5 : top / 2);
    if (stands) painter.rotate(-Math.PI / 2);
    painter.fillText(text, 0, 0);
    painter.restore();
  });
}

/** @param marked says which numbers stand out */
export function paintCells(
  painter: Painter,
  cells: GridCells,
  values: readonly (readonly (number | null)[])[],
  { across, down, numbered }: GridLayout,
  marked: (value: number) => boolean,
  palette: Palette,
): void {
  const { grid, peak } = cells;
  const digits = digitsIn(cells);
  const gap = across > 12 ? 1 : 0;
  painter.textBaseline = "middle";
  painter.textAlign = "center";
  values.forEach((line, row) => {
    line.forEach((value, column) => {
      const [x, y] = [column * across, row * down];
      if (value === null) {
        painter.strokeStyle = palette.border;
        painter.strokeRect(x + 0.5, y + 0.5, across - gap - 1, down - gap - 1);
        return;
      }
      const share = value / (peak || 1);
      const fill = cellColor(share, palette);
      painter.fillStyle = fill;
      painter.fillRect(x, y, across - gap, down - gap);
      painter.fillStyle = readable(fill, palette);
      const [middle, line] = [x + across / 2, y + down / 2];
      if (numbered) {
        painter.font = fontOf(Math.min(11, across * 0.28), marked(value) ? 700 : 400);
        const text = number(value, digits);
        // Else the many zeros would hide the others.
        if (/[1-9]/.test(text)) painter.fillText(text, middle, line);
      } else if (marked(value) || (!grid.null && share < -FAINT)) {
        painter.fillRect(middle - 2, line - 0.5, 4, 1);
        if (value > 0) painter.fillRect(middle - 0.5, line - 2, 1, 4);
      }
    });
  });
}

/** The colour of text on another: that of the two that differs more from it. */
function readable(on: string, { text, background }: Palette): string {
  const light = (color: string) => luminance(rgb(color)) + 0.05;
  const contrast = (color: string) => Math.abs(Math.log(light(color) / light(on)));
  return contrast(text) >= contrast(background) ? text : background;
}
