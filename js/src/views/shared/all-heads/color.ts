/** The colours of heads in the model view, and their legend. */

import {
  type Head,
  type Manifest,
  type Metric,
  metricValue,
  type StackInfo,
} from "../../../data/manifest.ts";
import { colored, type Phrase } from "../../../parts/text.ts";
import type { Palette } from "../../../styles/palette.ts";
import { allHeads, type Row } from "./order.ts";
import { countPatterns, patternColor, patternOf } from "./patterns.ts";
import { divergingRamp, layerColor, ramp } from "./ramp.ts";
import { inFull } from "./status.ts";

export interface Coloring {
  colorOf(head: Head): string;
  readonly legend: Phrase;
}

/** The number of squares in the legend. */
const STEPS = 7;

/** @param color a metric, "pattern" or "layer" */
export function coloringOf(
  color: Metric | "pattern" | "layer",
  rows: readonly Row[],
  stack: StackInfo,
  { patterns }: Manifest,
  palette: Palette,
): Coloring {
  if (color === "pattern") {
    return {
      colorOf: (head) => patternColor(patternOf(patterns, head), palette),
      legend: countPatterns(patterns, allHeads(rows), palette),
    };
  }
  if (color === "layer") {
    const colorOf = ({ layer }: Pick<Head, "layer">) =>
      layerColor(stack.layers.indexOf(layer), palette);
    const legend = ["layer ", ...scale(`${rows[0].layer.number}`, rows.map(colorOf), lastOf(rows))];
    return { colorOf, legend };
  }
  return metricColoring(color, rows, palette);
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

function lastOf(rows: readonly Row[]): string {
  return rows.length > 1 ? `${rows[rows.length - 1].layer.number}` : "";
}

const scale = (from: string, colors: readonly string[], to: string): Phrase => [
  `${from} `,
  ...colors.map((color) => colored(color, "■")),
  ` ${to}`,
];
