/** The legend of the neuron view: colours, hatching, and how exact the numbers are. */

import type { LayerInfo } from "../../data/manifest.ts";
import {
  halfPrecision,
  keptAsWeights,
  vectorsWithin,
  weightsWithin,
} from "../../parts/fidelity.ts";
import { colored, decimals, live, number, type Phrase, shareShown } from "../../parts/text.ts";
import { generatedLegend } from "../../parts/tokens.ts";
import type { Palette } from "../../styles/palette.ts";
import type { QueryAnalysis } from "./query-analysis.ts";

/** @param leftOut the vectors without space, by name */
export function neuronLegend(
  { positive, negative }: Palette,
  analysis: QueryAnalysis,
  leftOut: readonly string[],
): Phrase {
  const { info, stack } = analysis.data;
  const { vector, product } = analysis.scales;
  const { vectorRounding } = analysis.data;
  const productError = vectorRounding * (2 * vector.value + vectorRounding);
  const parts = [
    leftOut.length ? `no room for ${leftOut.join(" and ")}` : "",
    attentionShown(analysis),
    analysis.muted.value.length ? "hatched: muted, outlined: the model’s own" : "",
    analysis.comparison.value ? "hatched bars: compared query" : "",
    generatedLegend(stack.queries, stack.keys),
    rotaryText(info.rotary),
    halfPrecision(info),
    keptAsWeights([info]),
    weightsWithin(analysis.data.rounding, analysis.data.roundingRows),
    vectorsWithin(analysis.data.vectorRounding),
    `strongest colour ±${about(vector.value, vectorRounding)} (q, k), `,
  ];
  return [
    colored(positive, "■"),
    " positive  ",
    colored(negative, "■"),
    " negative",
    ...parts.filter(Boolean).map((part) => ` · ${part}`),
    live(`±${about(product.value, productError)} (q × k)`),
  ];
}

/** The share of the query's attention that the keys shown have; "" for all of it. */
function attentionShown({ shown, explanation }: QueryAnalysis): string {
  const { weights } = explanation.value.original;
  if (shown.keys.length === weights.length) return "";
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const part = shown.keys.reduce((sum, key) => sum + weights[key], 0);
  return shareShown((100 * part) / all, "the query’s attention");
}

/** A number with as many decimals as are right; a whole one if none is. */
const about = (value: number, error: number) => number(value, Math.max(0, decimals(error, 2)));

/** "rotary: n pairs with n + 32" */
function rotaryText(rotary: LayerInfo["rotary"]): string {
  if (!rotary) return "";
  const pairs =
    rotary.pairs === "halves" ? `n pairs with n + ${rotary.dims / 2}` : "neighbours are pairs";
  return `rotary: ${pairs}`;
}
