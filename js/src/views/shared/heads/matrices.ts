/**
 * The matrices that the choices ask for: of single heads or of several combined, between tokens or
 * words.
 */

import { largestOf } from "../../../basics/extremes.ts";
import {
  type AttentionMatrix,
  combinedMatrix,
  headMatrix,
  scoreMatrix,
  storedMatrix,
  weightedMatrix,
  wordMatrix,
} from "../../../data/attention-matrix.ts";
import type { Combined } from "../../../data/combine.ts";
import { DifferenceLayer } from "../../../data/difference-layer.ts";
import type { Layer } from "../../../data/layer.ts";
import { hasNorms, type LayerInfo, type StackInfo } from "../../../data/manifest.ts";
import { shownSegments } from "../../../data/shown.ts";
import type { Rollout } from "../../../data/store.ts";
import { combination } from "../../../state/choices.ts";
import { headLens, joinsWords } from "../../../state/lens.ts";
import { activeHeads } from "../../../state/navigation.ts";
import type { State } from "../../../state/state.ts";
import type { Axes } from "../axes.ts";

const HOW = { mean: "Mean", max: "Largest" } as const;

/** The words for numbers other than weights. */
export const SUFFIXES = {
  weight: "",
  share: "value-weighted",
  score: "scores",
  difference: "B − A",
  "score difference": "scores, B − A",
} as const;

export function shownMatrix(
  state: State,
  data: Layer,
  axes: Axes,
  head: number,
  lens = headLens(state),
): AttentionMatrix {
  const { program } = data.info;
  const scored = data instanceof DifferenceLayer ? data.scored && data : program && data.whole;
  if (lens === "scores" && scored) return scoreMatrix(scored, head);
  const weighted = lens === "values" && data.whole && hasNorms(data.info);
  const matrix = weighted
    ? weightedMatrix(data.whole, head)
    : headMatrix(data, head, shownSegments(state.segments.value, data.stack));
  return joinsWords(state) ? wordMatrix(matrix, axes.query.units, axes.key.units) : matrix;
}

/** The matrices of the active heads, or one that combines them. */
export function shownMatrices(state: State, data: Layer, axes: Axes): readonly AttentionMatrix[] {
  const active = activeHeads(state, data.info.heads);
  const matrices = active.map((head) => shownMatrix(state, data, axes, head));
  const together = combination(state.combine.value);
  if (together?.over !== "heads") return matrices;
  const { how } = together;
  const what = active.length === 1 ? `head ${active[0]}` : `${active.length} heads`;
  const of = SUFFIXES[matrices[0].measure];
  return [combinedMatrix(`${HOW[how]} of ${what}${of && `, ${of}`}`, matrices, how)];
}

/** The matrix that combines every head of every layer. */
export function stackMatrix(
  state: State,
  stack: StackInfo,
  combined: Combined,
  how: "mean" | "max",
  axes: Axes,
): AttentionMatrix {
  const heads = stack.layers.flatMap((layer) =>
    Array.from({ length: layer.heads }, (_, head) => `layer ${layer.number}, head ${head}`),
  );
  // Words may have fewer units than there are tokens.
  const keys = axes.key.units.of.length;
  const name = `${HOW[how]} of all ${heads.length} heads`;
  // The maxima of tokens do not give those of sums over words, so this is the largest between their
  // tokens.
  const title = state.words.value && how === "max" ? `${name}, by token` : name;
  const difference = stack.difference && {
    measure: "difference" as const,
    peak: largestOf(combined[how].map(Math.abs)),
  };
  const matrix: AttentionMatrix = {
    ...storedMatrix(title, combined[how], keys, combined.rowRounding[how]),
    ...difference,
    origin:
      how === "mean" ? undefined : (query, key) => heads[combined.head[query * keys + key]] ?? "",
  };
  if (!state.words.value) return matrix;
  const joined = how === "max" ? "largest" : "attention";
  return wordMatrix(matrix, axes.query.units, axes.key.units, joined);
}

/** The rollout of the layers up to one. */
export function rolloutMatrix(
  state: State,
  { number }: LayerInfo,
  { layers, rounding }: Rollout,
  axes: Axes,
): AttentionMatrix {
  const values = layers.get(number) ?? new Float32Array(0);
  const keys = axes.key.units.of.length;
  const of = number ? `layers 0–${number}` : "layer 0";
  const matrix = storedMatrix(
    `Rollout of ${of}`,
    values,
    keys,
    new Float32Array(values.length / keys).fill(rounding),
    "share",
  );
  return state.words.value ? wordMatrix(matrix, axes.query.units, axes.key.units) : matrix;
}

export const combinesLayers = ({ combine }: State): boolean =>
  combination(combine.value)?.over === "layers";
