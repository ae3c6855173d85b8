/** The head view's own controls: what is combined, words or tokens, columns or lines. */

import { hasWords } from "../../data/units.ts";
import { optionChoice, toggle } from "../../parts/choice.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { State } from "../../state/state.ts";

const COMBINE = {
  none: "Single heads",
  mean: "Mean of heads",
  max: "Max of heads",
  layers_mean: "Mean of all layers",
  layers_max: "Max of all layers",
};

export function headTools(scope: Scope, state: State): HTMLElement[] {
  const show = optionChoice(scope, state, "Show", "combine", COMBINE);
  const words = toggle(scope, state, "words", {
    name: "Words",
    title: "Join the tokens of a word: attention to it is their sum, from it their mean",
    off: false,
    on: true,
  });
  const horizontal = toggle(scope, state, "orientation", {
    name: "Horizontal",
    title: "Tokens in lines instead of columns: for short texts, and scripts without spaces",
    off: "vertical",
    on: "horizontal",
  });
  scope.effect(() => {
    words.hidden = !hasWords(state.shown.stack.value);
  });
  return [show, words, horizontal];
}
