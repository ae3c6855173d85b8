/** The lens of heads: the numbers that a view shows, and the reason why a stack may lack them. */

import {
  ATTENTION,
  isAttention,
  type LensInfo,
  layerOf,
  readBy,
  type StackInfo,
} from "../data/manifest.ts";
import { isKnown, lackOf } from "../lenses/index.ts";
import { type Choices, combination } from "./choices.ts";
import type { State } from "./state.ts";

/**
 * The lenses that a view can show, as the stack is read by them: the model view of single heads, the
 * text view of their means.
 */
export const lensesOf = ({ manifest, shown }: Read, view: Choices["view"]): readonly LensInfo[] =>
  manifest.value.lenses
    .filter(
      (lens) =>
        isKnown(lens) &&
        (view !== "text" || isAttention(lens) || lens.kind === "factors") &&
        !(view === "model" && lens.kind === "layers"),
    )
    .map((lens) => readBy(lens, shown.stack.value));

type Read = Pick<State, "manifest" | "shown">;

/** The reason why a layer lacks a lens, and the side of a comparison of which it is said; null if it has it. */
export function lensLack(
  lens: LensInfo,
  stack: StackInfo,
  layer: number,
): { readonly brief: string; readonly sentence: string; readonly side: "A" | "B" | "" } | null {
  const { difference = [stack] } = stack;
  const [a, b] = difference.map((side) => lackOf(lens, side.name, layerOf(side, layer)));
  if (!stack.difference) return a && { ...a, side: "" };
  if (a && b) return { ...a, side: "" };
  return a ? { ...a, side: "A" } : b && { ...b, side: "B" };
}

/**
 * The reason why a stack lacks a lens, in a few words; null if a layer has it.
 *
 * @param ofAll true if each layer has to have it
 */
export function lensRefusal(stack: StackInfo, lens: LensInfo, ofAll = false): string | null {
  const all = stack.layers.map(({ number }) => lensLack(lens, stack, number));
  const first = all.find(Boolean);
  if (!first || !(ofAll || all.every(Boolean))) return null;
  return first.side ? `${first.side}: ${first.brief}` : first.brief;
}

const chosen = (state: Read & Pick<State, "lens">, view: Choices["view"]): LensInfo =>
  lensesOf(state, view).find(
    (lens) => lens.name === state.lens.value && !standsIn(state.shown.stack.value, lens),
  ) ?? attentionOf(state);

/** True if coefficients are shown in place of a lens: hybrids have layers with a softmax and without. */
const standsIn = (stack: StackInfo, lens: LensInfo): boolean =>
  Boolean(stack.layers[0].signed) && lensRefusal(stack, lens) !== null;

/** The lens that the head view shows: combinations of all layers are of attention. */
export const shownLens = (state: State): LensInfo =>
  combination(state.combine.value)?.over === "layers" ? attentionOf(state) : chosen(state, "head");

/** The lens that the model view shows, of single heads. */
export const headLens = (state: State): LensInfo => chosen(state, "model");

/** The lens that the text view shows. */
export const textLens = (state: State): LensInfo => chosen(state, "text");

/** Attention, as the record describes it; of a stack without a softmax, its coefficients. */
export const attentionOf = ({ manifest, shown }: Read): LensInfo =>
  readBy(manifest.value.lenses.find(isAttention) ?? ATTENTION, shown.stack.value);

/** True for weights, which need no word: not for coefficients. */
export const isWeights = (lens: LensInfo): boolean => isAttention(lens) && !lens.signed;

/** True if the tokens of a word are joined, for which the numbers of the lens must add up. */
export const joinsWords = (state: State): boolean =>
  state.words.value && (state.view.value === "head" ? shownLens(state) : headLens(state)).adds_up;
