/** The job of drawing all lines as one picture. */

import type { Ink } from "./mixer.ts";

export interface LinesJob {
  /** The queries and keys shown, and their positions in pixels from the top. */
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
  /** The size of the picture in pixels. */
  readonly width: number;
  readonly height: number;
  /** One per matrix. */
  readonly inks: readonly Ink[];
  /** Pixels per CSS pixel. */
  readonly ratio: number;
  /** The weight below which lines may be left out. */
  readonly faintest: number;
}

/** @param share the percentage of attention that is drawn; null until the picture is complete */
export type ShowLines = (pixels: Uint8ClampedArray<ArrayBuffer>, share: number | null) => void;

/** The width of the thinnest line in CSS pixels, and what weight 1 adds to it. */
const THINNEST = 0.9;
const THICKER = 1.6;

/** A line's width in pixels. */
export const thickness = (weight: number, ratio: number) => (THINNEST + THICKER * weight) * ratio;

/** The largest difference between sums of the same numbers in another order. */
const ROUNDING = 1e-9;

/** The percentage of attention that is drawn: 100 if no line is left out. */
export const shareOf = (part: number, total: number): number =>
  total - part > ROUNDING * total ? (100 * part) / total : 100;
