/** The layout of the model view's grid, in CSS pixels. */

import type { Row } from "../shared/all-heads/heads.ts";

export type ModelLayout = ReturnType<typeof modelLayout>;

/** The form of the layers' means: values beside their bars, below them, or hidden. */
type Fit = "wide" | "narrow" | "hidden";

const WIDE_FROM = 1200;
const NARROW_FROM = 660;
const SUMMARY: Readonly<Record<Fit, number>> = { wide: 104, narrow: 62, hidden: 0 };
const LEFT = 52;
/** The same for "A 3 ↔ B 7". */
const PAIRED_LEFT = 92;
const TOP = 36;
/** The bounds of the longest side of a picture, with many layers and with few. */
const LARGEST = [100, 200] as const;
const COMFORTABLE_HEIGHT = 560;
/** The smallest picture: below, the grid scrolls. */
const SMALLEST = 32;
/** The bounds of the space between pictures, which is about an eighth of a column. */
const GAPS = [4, 12] as const;
const gapOf = (pitch: number) => Math.min(Math.max(2 * Math.floor(pitch / 16), GAPS[0]), GAPS[1]);
/** The height of the colour bar with its distance, and of the number below it. */
const BAR = 6;
const CAPTION = 15;
/** The least height of a row, for its number. */
const NUMBER = 20;

/** The height of the means below the columns. */
const MEANS = 32;
/** The least share of their size to which pictures shrink so that all rows are in sight. */
const SHRUNK = 0.75;

/**
 * @param height that of the view without scrolling
 * @param aspect the width of a picture divided by its height
 */
export function modelLayout(
  available: number,
  height: number,
  aspect: number,
  rows: readonly Row[],
  sorted: boolean,
) {
  const columns = Math.max(...rows.map(({ heads }) => heads.length));
  const fit: Fit = available >= WIDE_FROM ? "wide" : available >= NARROW_FROM ? "narrow" : "hidden";
  const summary = SUMMARY[fit];
  const left = rows.some(({ layer }) => layer.partners) ? PAIRED_LEFT : LEFT;
  const largest = Math.min(Math.max(COMFORTABLE_HEIGHT / rows.length, LARGEST[0]), LARGEST[1]);
  const fitting = (available - left - summary) / columns;
  const gap = gapOf(fitting);
  const pitch = Math.max(SMALLEST + gap, Math.min(largest + gap, fitting));
  // Whole pixels, so that all cells of a picture get the same size.
  const usual = Math.floor(Math.min(pitch - gap, largest * aspect));
  const below = BAR + (sorted ? CAPTION : 0);
  const between = below + Math.max(gap - 4, 6);
  const room = Math.floor(aspect * ((height - TOP - MEANS) / rows.length - between));
  const across = room < SHRUNK * usual ? usual : Math.min(room, usual);
  const down = Math.round(across / aspect);
  const pictures = columns * (across + gap);
  return {
    /** The width of the layer numbers, and the height of the header row. */
    left,
    top: TOP,
    /** The width and height of a picture. */
    across,
    down,
    /** The space between two pictures. */
    gap,
    /** The height below a picture: its colour bar, and its number in sorted rows. */
    below,
    /** The distance of rows, with space for the frame of the selected head, above and below. */
    rowPitch: Math.max(down + between, NUMBER),
    /** The largest number of heads in a row. */
    columns,
    /** The width of all pictures of a row. */
    pictures,
    fit,
    /** The width of the layers' means; 0 if they are left out. */
    summary,
    width: left + pictures + summary,
  };
}
