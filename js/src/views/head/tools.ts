/** The controls of the head view: combination of heads, words, orientation. */

import { hasWords } from "../../data/units.ts";
import { choice, toggle } from "../../parts/choice.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Combine } from "../../state/choices.ts";
import type { State } from "../../state/state.ts";

const COMBINE: readonly { readonly value: Combine; readonly label: string }[] = [
  { value: "none", label: "Single heads" },
  { value: "mean", label: "Mean of heads" },
  { value: "max", label: "Max of heads" },
  { value: "layers_mean", label: "Mean of all layers" },
  { value: "layers_max", label: "Max of all layers" },
];

export function headTools(scope: Scope, state: State): HTMLElement[] {
  const show = choice(scope, {
    name: "Show",
    options: COMBINE,
    value: () => state.combine.value,
    set: (to) => {
      state.combine.value = to as Combine;
    },
  });
  const words = toggle(scope, {
    name: "Words",
    title: "Join the tokens of a word: attention to it is their sum, from it their mean",
    value: () => state.words.value,
    set: (to) => {
      state.words.value = to;
    },
  });
  const horizontal = toggle(scope, {
    name: "Horizontal",
    title: "Tokens in lines instead of columns: for short texts, and scripts without spaces",
    value: () => state.orientation.value === "horizontal",
    set: (to) => {
      state.orientation.value = to ? "horizontal" : "vertical";
    },
  });
  scope.effect(() => {
    words.hidden = !hasWords(state.shown.stack.value);
  });
  return [show, words, horizontal];
}
