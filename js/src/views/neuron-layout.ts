/** Where the columns of the neuron view stand, in CSS pixels from its left edge. */

export interface Layout {
  /** Width of either token column; the queries' starts at 0. */
  readonly labels: number;
  /** Left edge and width of the three strips of vectors. */
  readonly queries: number;
  readonly keyLabels: number;
  readonly keys: number;
  readonly products: number;
  readonly strip: number;
  readonly scores: number;
  readonly scoreWidth: number;
  readonly weights: number;
  /** The bars' own width; a number stands behind it. */
  readonly weightWidth: number;
}

/** Room for the number behind a bar. */
export const NUMBER_WIDTH = 44;

/** @param labels width of the token columns. */
export function layoutFor(width: number, labels: number): Layout {
  const narrow = width < 760;
  const gap = narrow ? 6 : 12;
  const curves = narrow ? 22 : 64;
  const space = narrow ? 10 : 34;
  const scoreWidth = narrow ? 64 : 110;
  const weightWidth = narrow ? 36 : Math.min(140, Math.round(width * 0.1));
  const fixed = 2 * labels + 2 * gap + curves + 3 * space + scoreWidth + weightWidth + NUMBER_WIDTH;
  const strip = Math.max(40, Math.floor((width - fixed) / 3));
  const queries = labels + gap;
  const keyLabels = queries + strip + curves;
  const keys = keyLabels + labels + gap;
  const products = keys + strip + space;
  const scores = products + strip + space;
  const weights = scores + scoreWidth + space;
  return {
    labels,
    queries,
    keyLabels,
    keys,
    products,
    strip,
    scores,
    scoreWidth,
    weights,
    weightWidth,
  };
}
