/** The brightness of lines: where they cover each other, all of them are dimmed alike. */

/** The mean opacity of a picture at most, before any pixel is cut off at 1. */
const DENSEST = 0.45;

/** @param mean opacity of all pixels, as far above 1 as lines cover each other */
export const lightFor = (mean: number): number => Math.min(1, DENSEST / mean);
