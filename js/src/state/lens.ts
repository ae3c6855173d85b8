/** The weighting of heads: which numbers a view shows, and why a stack may not have them. */

import { hasNorms, type StackInfo } from "../data/manifest.ts";
import { combination, type Lens } from "./choices.ts";
import type { State } from "./state.ts";

/** Why a stack has no such numbers, in brackets behind their name; null if it has some. */
export function lensRefusal(stack: StackInfo, lens: Lens): string | null {
  const { queries, keys, layers } = stack;
  if (lens === "scores") return withoutScores(stack);
  if (stack.difference && lens !== "attention") return "of A or B alone";
  if (lens === "values") {
    const [first] = layers;
    return layers.some(hasNorms) ? null : WITHOUT_NORMS[first.norms_need ?? "values"];
  }
  if (lens === "attention") return null;
  if (queries !== keys) return "self-attention only";
  return layers.every(({ number }, at) => number === at) ? null : "needs all layers";
}

/** The reason why no layer has scores; in a difference, both records need them. Null if one has. */
function withoutScores({ layers, difference }: StackInfo): string | null {
  const sides = (difference ?? [{ layers }]).map((side) => side.layers.map((one) => one.program));
  if (layers.some((_, at) => sides.every((programs) => programs[at]))) return null;
  const [a, b] = sides.map((programs) => !programs.some(Boolean));
  return difference && a !== b ? `${a ? "A" : "B"} has weights alone` : "weights alone";
}

const WITHOUT_NORMS = {
  values: "needs capture(values=True)",
  projection: "no output projection found",
};

/** The weighting that the head view shows: combinations of all layers are of attention. */
export const shownLens = ({ lens, combine }: State): Lens =>
  combination(combine.value)?.over === "layers" ? "attention" : lens.value;

/** True if the tokens of a word are joined. A word has no score, so scores are of tokens. */
export const joinsWords = (state: State): boolean =>
  state.words.value &&
  (state.view.value === "head" ? shownLens(state) : headLens(state)) !== "scores";

/** The weighting that the model view shows: rollout is of no single head. */
export const headLens = ({ lens }: State): Lens =>
  lens.value === "rollout" ? "attention" : lens.value;
