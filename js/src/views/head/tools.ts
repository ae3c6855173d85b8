/** The controls of the head view: combination of heads, words, orientation. */

import { hasWords } from "../../data/units.ts";
import { choice, optionsOf, toggle } from "../../parts/choice.ts";
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
  const { combine, orientation } = state;
  const show = choice(scope, "Show", optionsOf<"combine">(COMBINE), combine);
  const words = toggle(
    scope,
    "Words",
    "Join the tokens of a word: attention to it is their sum, from it their mean",
    state.words,
  );
  const horizontal = toggle(
    scope,
    "Horizontal",
    "Tokens in lines instead of columns: for short texts, and scripts without spaces",
    {
      get value() {
        return orientation.value === "horizontal";
      },
      set value(on) {
        orientation.value = on ? "horizontal" : "vertical";
      },
    },
  );
  scope.effect(() => {
    words.hidden = !hasWords(state.shown.stack.value);
  });
  return [show, words, horizontal];
}
