/** The shape of lines, and the dimming of those that cover each other. */

/** The way of a line from 0 to 1, level at both ends, and its slope. */
export const ease = (t: number): number => t * t * (3 - 2 * t);
export const steepness = (t: number): number => 6 * t * (1 - t);

/** The largest mean opacity of a picture, before pixels are cut off at 1. */
const DENSEST = 0.45;

/** @param mean the mean opacity of all pixels, above 1 where lines overlap */
export const lightFor = (mean: number): number => Math.min(1, DENSEST / mean);
