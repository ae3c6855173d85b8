/** The dimming of lines that cover each other. */

/** The largest mean opacity of a picture, before pixels are cut off at 1. */
const DENSEST = 0.45;

/** @param mean the mean opacity of all pixels, above 1 where lines overlap */
export const lightFor = (mean: number): number => Math.min(1, DENSEST / mean);
