/** The colours of heads in the model view, and their legend. */

import {
  type Head,
  type Manifest,
  type Metric,
  metricValue,
  type StackInfo,
} from "../../data/manifest.ts";
import { colored, type Phrase } from "../../parts/text.ts";
import type { Palette } from "../../styles/palette.ts";
import { inFull } from "./metrics.ts";
import { allHeads, type Row } from "./order.ts";
import { countPatterns, patternColor, patternOf } from "./patterns.ts";
import { divergingRamp, layerColor, ramp } from "./ramp.ts";

export interface Coloring {
  of(head: Head): string;
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
      of: (head) => patternColor(patternOf(patterns, head), palette),
      legend: countPatterns(patterns, allHeads(rows), palette),
    };
  }
  if (color === "layer") {
    const of = ({ layer }: Pick<Head, "layer">) => layerColor(stack.layers.indexOf(layer), palette);
    const legend = ["layer ", ...scale(`${rows[0].layer.number}`, rows.map(of), lastOf(rows))];
    return { of, legend };
  }
  return metricColoring(color, rows, palette);
}

/** Colours from the lowest to the highest value; of a signed metric, symmetric around zero. */
function metricColoring(metric: Metric, rows: readonly Row[], palette: Palette): Coloring {
  const values = allHeads(rows).map((head) => metricValue(metric, head));
  const known = values.filter((value) => value !== null);
  const [least, most] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 0];
  const farthest = Math.max(-least, most);
  const [lowest, highest] = metric.signed ? [-farthest, farthest] : [least, most];
  const colors = metric.signed ? divergingRamp : ramp;
  const steps = Array.from({ length: STEPS }, (_, n) => colors(n / (STEPS - 1), palette));
  return {
    of: (head) => {
      const value = metricValue(metric, head);
      if (value === null) return palette.border;
      return colors((value - lowest) / (highest - lowest || 1), palette);
    },
    legend: [
      `${metric.label} `,
      ...scale(inFull(metric, lowest), steps, inFull(metric, highest)),
      ...(known.length < values.length ? ["   ", colored(palette.border, "■"), " no value"] : []),
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
