/** What the head view shows: single heads, or one matrix made of several, between tokens or words. */

import {
  type AttentionMatrix,
  combinedMatrix,
  headMatrix,
  storedMatrix,
  wordMatrix,
} from "../../../data/attention-matrix.ts";
import type { Combined } from "../../../data/combine.ts";
import type { Layer } from "../../../data/layer.ts";
import { shownSegments } from "../../../data/thumbnails.ts";
import { activeHeads } from "../../../state/navigation.ts";
import type { State } from "../../../state/state.ts";
import type { Axes } from "../axes.ts";

const HOW = { mean: "Mean", max: "Largest" } as const;

/** One head of a layer. */
export function shownMatrix(state: State, data: Layer, axes: Axes, head: number): AttentionMatrix {
  const matrix = headMatrix(data, head, shownSegments(state.segments.value, data.stack));
  return state.words.value ? wordMatrix(matrix, axes.query.units, axes.key.units) : matrix;
}

/** The heads that are switched on, each or together. */
export function shownMatrices(state: State, data: Layer, axes: Axes): readonly AttentionMatrix[] {
  const active = activeHeads(state, data.info.heads);
  const matrices = active.map((head) => shownMatrix(state, data, axes, head));
  const how = state.combine.value;
  if (how !== "mean" && how !== "max") return matrices;
  const what = active.length === 1 ? `head ${active[0]}` : `${active.length} heads`;
  return [combinedMatrix(`${HOW[how]} of ${what}`, matrices, how)];
}

/** Every head of every layer, as one. */
export function stackMatrix(
  state: State,
  combined: Combined,
  heads: number,
  axes: Axes,
): AttentionMatrix {
  const how = state.combine.value === "layers_max" ? "max" : "mean";
  // Words may have fewer units than there are tokens.
  const keys = axes.key.units.of.length;
  const name = `${HOW[how]} of all ${heads} heads`;
  if (!state.words.value) return storedMatrix(name, combined[how], keys);
  // Of sums over words there is no maximum here, so the largest is that between their tokens.
  const matrix = storedMatrix(how === "max" ? `${name}, by token` : name, combined[how], keys);
  const joined = how === "max" ? "largest" : "attention";
  return wordMatrix(matrix, axes.query.units, axes.key.units, joined);
}

/** Whether all layers are shown as one. */
export const combinesLayers = ({ combine }: State): boolean => combine.value.startsWith("layers_");
