/** The description of a picture of all lines. */

import type { Ink } from "./mixer.ts";

export interface LinesJob {
  /** The queries and keys shown, and where each of them stands, in pixels from the top. */
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  /** One per matrix. */
  readonly inks: readonly Ink[];
  /** Pixels per CSS pixel. */
  readonly ratio: number;
  /** Weights below this may be left out. */
  readonly faintest: number;
}

/** @param share of attention that is drawn, in percent; null while there is more to draw. */
export type ShowLines = (pixels: Uint8ClampedArray<ArrayBuffer>, share: number | null) => void;

/** Width of a line in CSS pixels: of a weight that is nearly 0, and what is added up to 1. */
const THINNEST = 0.9;
const THICKER = 1.6;

/** A line's width in pixels. */
export const thickness = (weight: number, ratio: number) => (THINNEST + THICKER * weight) * ratio;

/** In percent. */
export const shareOf = (part: number, total: number) => (total > 0 ? (100 * part) / total : 100);
