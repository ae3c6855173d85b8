/** The colours of heads by a metric, their pattern or their layer: legend and ramps. */

import { type Head, type Manifest, type Metric, metricValue } from "../../../data/manifest.ts";
import { colored, type Phrase } from "../../../parts/text.ts";
import type { State } from "../../../state/state.ts";
import { hex, mixed, type Palette } from "../../../styles/palette.ts";
import { allHeads, metricNamed, type Row } from "./heads.ts";
import { countPatterns, inFull, patternColor, patternOf } from "./words.ts";

export interface Coloring {
  colorOf(head: Head): string;
  readonly legend: Phrase;
}

/** The number of squares in the legend. */
const STEPS = 7;

/**
 * Colours by the pattern, unless the reader chose another that there is.
 *
 * @param pair see `metricNamed`
 */
export function coloringOf(
  state: State,
  rows: readonly Row[],
  { patterns }: Manifest,
  palette: Palette,
  pair: Metric | null,
): Coloring {
  const chosen = state.color.value;
  const metric = metricNamed(state, chosen, pair);
  if (metric) return metricColoring(metric, rows, palette);
  if (chosen !== "layer") {
    return {
      colorOf: (head) => patternColor(patternOf(patterns, head), palette),
      legend: countPatterns(patterns, allHeads(rows), palette),
    };
  }
  const { layers } = state.shown.stack.value;
  const ofLayer = ({ layer }: Pick<Head, "layer">) => layerColor(layers.indexOf(layer), palette);
  const [first, ...others] = rows.map(({ layer }) => `${layer.number}`);
  const legend = ["layer ", ...scale(first, rows.map(ofLayer), others.at(-1) ?? "")];
  return { colorOf: ofLayer, legend };
}

/** Colours from the lowest to the highest value; of a signed metric, symmetric around zero. */
function metricColoring(metric: Metric, rows: readonly Row[], palette: Palette): Coloring {
  const values = allHeads(rows).map((head) => metricValue(metric, head));
  const numbers = values.filter((value) => value !== null);
  const [least, most] = numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [0, 0];
  const farthest = Math.max(-least, most);
  const [lowest, highest] = metric.signed ? [-farthest, farthest] : [least, most];
  const colors = metric.signed ? divergingRamp : ramp;
  const steps = Array.from({ length: STEPS }, (_, n) => colors(n / (STEPS - 1), palette));
  return {
    colorOf: (head) => {
      const value = metricValue(metric, head);
      if (value === null) return palette.border;
      // If all values are zero, a signed metric has the middle colour.
      const range = highest - lowest;
      return colors(range ? (value - lowest) / range : metric.signed ? 0.5 : 0, palette);
    },
    legend: [
      `${metric.label} `,
      ...scale(inFull(metric, lowest), steps, inFull(metric, highest)),
      ...(numbers.length < values.length ? ["   ", colored(palette.border, "■"), " no value"] : []),
    ],
  };
}

const scale = (from: string, colors: readonly string[], to: string): Phrase => [
  `${from} `,
  ...colors.map((color) => colored(color, "■")),
  ` ${to}`,
];

/**
 * A sequential colour ramp from 0 to 1: blue, violet, red, perceptually uniform with increasing
 * contrast, which is 3 at least.
 */
export function ramp(share: number, { dark }: Palette): string {
  const t = Math.min(Math.max(share, 0), 1);
  const from = (a: number, b: number) => a + t * (b - a);
  return dark
    ? oklch(from(0.6, 0.93), from(0.14, 0.09), from(250, 440))
    : oklch(from(0.63, 0.33), from(0.11, 0.14), from(220, 380));
}

/** A diverging colour ramp: negative (0), grey (0.5), positive (1). */
export function divergingRamp(share: number, { negative, neutral, positive }: Palette): string {
  return mixed(neutral, share < 0.5 ? negative : positive, Math.min(Math.abs(2 * share - 1), 1));
}

const GOLDEN_ANGLE = 137.508;
const LIGHTNESS = {
  light: [0.5, 0.6, 0.4, 0.55],
  dark: [0.72, 0.85, 0.64, 0.79],
} as const;

/** The colour of a layer: distant hues, in different shades where they are close. */
export function layerColor(index: number, { dark }: Palette): string {
  const shades = LIGHTNESS[dark ? "dark" : "light"];
  return oklch(shades[index % shades.length], 0.13, 255 + index * GOLDEN_ANGLE);
}

/** "#rrggbb" of a lightness, chroma and hue in OKLCH (Ottosson 2020), clipped to sRGB. */
function oklch(lightness: number, chroma: number, degrees: number): string {
  const hue = (degrees * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return hex(linear.map((c) => 255 * encoded(c)));
}

const encoded = (c: number) => (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055);
