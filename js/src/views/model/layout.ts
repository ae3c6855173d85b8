/** The measures of the model view's grid, in CSS pixels. */

import type { Row } from "./order.ts";

export interface ModelLayout {
  /** Width of the column with the layers' numbers, and height of the row above the first layer. */
  readonly left: number;
  readonly top: number;
  /** Of a picture. */
  readonly across: number;
  readonly down: number;
  /** Between two pictures. */
  readonly gap: number;
  /** Height of what belongs to a picture and stands under it: its bar, and its number where it is sorted. */
  readonly below: number;
  /** From one layer to the next. */
  readonly rowPitch: number;
  /** The most heads that any layer shows. */
  readonly columns: number;
  /** Width of all pictures of a row. */
  readonly pictures: number;
  readonly fit: Fit;
  /** Width of the column with the layers' means; 0 where it is left out. */
  readonly summary: number;
  readonly width: number;
}

/** How much there is room for beside the pictures: values beside their bars, below them, or none. */
export type Fit = "wide" | "narrow" | "bare";

const WIDE_FROM = 1200;
const NARROW_FROM = 660;
const SUMMARY: Readonly<Record<Fit, number>> = { wide: 104, narrow: 62, bare: 0 };
const LEFT = 52;
const TOP = 36;
/** The longer side of a picture, where many layers or few share the height. */
const LARGEST = [100, 200] as const;
const COMFORTABLE_HEIGHT = 560;
/** Below this nothing can be told apart, and pictures are rather scrolled. */
const SMALLEST = 32;
/** Between pictures: about an eighth of what one takes, even and within bounds. */
const GAPS = [4, 12] as const;
const gapOf = (pitch: number) => Math.min(Math.max(2 * Math.floor(pitch / 16), GAPS[0]), GAPS[1]);
/** The coloured bar with its distance to the picture, and the number below it in sorted rows. */
const BAR = 6;
const CAPTION = 15;
/** The least height that a layer's number takes. */
const NUMBER = 20;

/** @param aspect width by height of a picture. */
export function modelLayout(
  room: number,
  aspect: number,
  rows: readonly Row[],
  sorted: boolean,
): ModelLayout {
  const columns = Math.max(...rows.map(({ heads }) => heads.length));
  const fit = room >= WIDE_FROM ? "wide" : room >= NARROW_FROM ? "narrow" : "bare";
  const summary = SUMMARY[fit];
  const largest = Math.min(Math.max(COMFORTABLE_HEIGHT / rows.length, LARGEST[0]), LARGEST[1]);
  const fitting = (room - LEFT - summary) / columns;
  const gap = gapOf(fitting);
  const pitch = Math.max(SMALLEST + gap, Math.min(largest + gap, fitting));
  // Whole pixels, or the cells of a picture get unlike sizes.
  const across = Math.floor(Math.min(pitch - gap, largest * aspect));
  const down = Math.round(across / aspect);
  const pictures = columns * (across + gap);
  const below = BAR + (sorted ? CAPTION : 0);
  return {
    left: LEFT,
    top: TOP,
    across,
    down,
    gap,
    below,
    // Room for the frame of the selected head above and below.
    rowPitch: Math.max(down + below + Math.max(gap - 4, 6), NUMBER),
    columns,
    pictures,
    fit,
    summary,
    width: LEFT + pictures + summary,
  };
}
