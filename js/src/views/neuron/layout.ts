/** The layout of the neuron view's columns, in CSS pixels from its left edge. */

/** A column of bars, with the right edge of its numbers. */
export interface Bars {
  readonly left: number;
  readonly width: number;
  readonly end: number;
}

export type Layout = ReturnType<typeof layoutFor> | ReturnType<typeof layoutWithoutVectors>;

/** The width of the number beside a bar, in 12 px. */
const NUMBER_WIDTH = 50;

/** The height above the rows, for marks of neurons. */
export const MARKS = 12;

/** The least height of a row with two bars and two numbers. */
export const SPLIT_ROW = 28;

/** The width below which two readable strips are better than three. */
const NARROW = 760;

/** The widths of spaces, curves and bars, and the widths of the view that they are for. */
const MEASURES = [
  { from: 1100, to: Infinity, gap: 12, curves: 64, space: 32, bars: 84, weights: 120 },
  { from: 760, to: Infinity, gap: 8, curves: 40, space: 18, bars: 44, weights: 64 },
  { from: 0, to: Infinity, gap: 6, curves: 24, space: 12, bars: 32, weights: 36 },
  { from: 0, to: NARROW, gap: 4, curves: 20, space: 8, bars: 20, weights: 24 },
] as const;

/** The largest widths of other columns until vectors have `WANTED` pixels per component. */
const MOST = { curves: 64, bars: 60, weights: 90 } as const;

/** The pixels per component that other columns make space for. */
const WANTED = 6;

/**
 * Lay out the columns. Vectors come first: the most generous widths are used that leave `WANTED`
 * pixels per component, or else those that leave the most; what remains goes to bars and curves. A
 * narrow view omits the strip of the queries first, then that of the keys.
 *
 * @param labels the width of the queries' and the keys' labels
 * @param dim the components of a vector: if they would get too narrow, the view is wider than
 * `available`
 */
export function layoutFor(available: number, labels: number, dim: number, biased: boolean) {
  const atLeast = (perComponent: number) => Math.min(256, Math.max(40, perComponent * dim));
  const fits = [3, 2, 1].map((strips) => widest(available, labels, dim, biased, strips));
  const readable = atLeast(available < NARROW ? 3 : 2);
  const chosen = fits.find(({ strip }) => strip >= readable) ?? fits[2];
  const { strips, gap, space } = chosen;
  // Bars and curves come before wider vectors.
  const more = (["weights", "bars", "curves"] as const).reduce(
    (sum, name) => sum + Math.max(0, MOST[name] - chosen[name]),
    0,
  );
  const needed = Math.min(chosen.strip, Math.max(40, WANTED * dim));
  const rest = Math.max(needed, chosen.strip - more / strips);
  const strip = Math.max(atLeast(1.25), even(rest, dim));

  let spare = Math.max(0, Math.floor(available - chosen.fixed - strips * strip));
  const widened = (width: number, most: number) => {
    const added = Math.min(spare, Math.max(0, most - width));
    spare -= added;
    return width + added;
  };
  const weightBars = widened(chosen.weights, MOST.weights);
  const bars = widened(chosen.bars, MOST.bars);
  const between = widened(chosen.curves, MOST.curves);

  const queries = strips > 2 ? labels + gap : null;
  const from = labels + gap + (queries === null ? 0 : strip);
  const keyLabels = from + between;
  const afterKeyLabels = keyLabels + labels + gap;
  const keys = strips > 1 ? afterKeyLabels : null;
  const products = afterKeyLabels + (keys === null ? 0 : strip + space);
  const added = products + strip + space;
  const bias = biased ? column(added, chosen.biasBars) : null;
  const scores = column(bias ? bias.end + space : added, bars);
  const weights = column(scores.end + space, weightBars);
  const width = Math.max(available, weights.end);
  const curves = [from + 5, keyLabels] as const;
  return {
    width,
    /** The width of the queries' and the keys' labels; the queries' start at 0. */
    labels,
    keyLabels,
    /** The left edges of the strips of vectors, all `strip` wide; null without space for one. */
    queries,
    keys,
    products,
    strip,
    /** The left and right edge of the curves, between the queries and the keys' labels. */
    curves,
    /** Null without a bias. */
    bias,
    scores,
    weights,
  };
}

/** The layout without vectors: queries, curves, keys, and softmax bars. */
export function layoutWithoutVectors(available: number, labels: number) {
  const gap = 6;
  const bars = Math.min(140, Math.round(available * 0.15));
  const rest = available - 2 * labels - bars - NUMBER_WIDTH - 3 * gap;
  const from = labels + gap;
  const to = from + Math.max(120, Math.min(520, rest));
  const keyLabels = to + gap;
  const weights = column(keyLabels + labels + gap, bars);
  const vectors = { queries: null, keys: null, products: null, strip: 0 };
  const curves = [from, to] as const;
  const width = weights.end;
  return { ...vectors, width, labels, keyLabels, curves, bias: null, scores: null, weights };
}

/** The widths that give so many strips the most space, and the width of a strip. */
function widest(available: number, labels: number, dim: number, biased: boolean, strips: number) {
  const choices = MEASURES.filter(({ from, to }) => available >= from && available < to).map(
    (widths) => {
      const { gap, curves, space, bars, weights } = widths;
      const biasBars = Math.round(bars * 0.75);
      const biasWidth = biased ? biasBars + NUMBER_WIDTH + space : 0;
      const tokens = 2 * (labels + gap) + curves;
      // Spaces follow the strips of keys and products, and the scores.
      const spaces = (strips > 1 ? 3 : 2) * space;
      const fixed = tokens + biasWidth + bars + weights + 2 * NUMBER_WIDTH + spaces;
      const strip = (available - fixed) / strips;
      return { ...widths, strips, biasBars, fixed, strip };
    },
  );
  const roomy = choices.find(({ strip }) => strip >= WANTED * dim);
  if (roomy) return roomy;
  const capped = choices.filter(({ bars }) => bars <= MOST.bars);
  // Fractions of a pixel count only for very narrow components.
  const perComponent = capped.map(({ strip }) =>
    strip < 2 * dim ? strip / dim : Math.floor(strip / dim),
  );
  return capped[perComponent.indexOf(Math.max(...perComponent))];
}

const column = (left: number, width: number): Bars => ({
  left,
  width,
  end: left + width + NUMBER_WIDTH,
});

/** Round down to whole pixels per component, where unequal widths would be visible. */
function even(available: number, dim: number): number {
  const perComponent = Math.floor(available / dim);
  return perComponent >= 2 && perComponent < WANTED ? perComponent * dim : Math.floor(available);
}
