/** What the colours of the model view say. */

import type { StackInfo } from "../../data/manifest.ts";
import { colored, type Phrase } from "../../parts/text.ts";
import type { Color } from "../../state/choices.ts";
import type { Palette } from "../../styles/theme.ts";
import { longName, measured } from "./measures.ts";
import { allHeads, type Head, type Row } from "./order.ts";
import { countPatterns, patternOf } from "./patterns.ts";
import { layerColor, ramp } from "./ramp.ts";

export interface Coloring {
  of(head: Head): string;
  readonly legend: Phrase;
}

/** Squares of the legend's ramp. */
const STEPS = 7;

export function coloringOf(
  color: Color,
  rows: readonly Row[],
  stack: StackInfo,
  palette: Palette,
): Coloring {
  if (color === "pattern") {
    return {
      of: ({ layer, head }) => palette[patternOf(layer, head, stack)],
      legend: countPatterns(allHeads(rows), stack, palette),
    };
  }
  if (color === "layer") {
    const of = ({ layer }: Pick<Head, "layer">) => layerColor(stack.layers.indexOf(layer), palette);
    const legend = ["layer ", ...scale(`${rows[0].layer.number}`, rows.map(of), lastOf(rows))];
    return { of, legend };
  }
  const values = allHeads(rows).map(({ layer, head }) => layer.measures[color][head]);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const steps = Array.from({ length: STEPS }, (_, n) => ramp(n / (STEPS - 1), palette));
  return {
    of: ({ layer, head }) =>
      ramp((layer.measures[color][head] - lowest) / (highest - lowest || 1), palette),
    legend: [
      `${longName(color)} `,
      ...scale(measured(color, lowest), steps, measured(color, highest)),
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
