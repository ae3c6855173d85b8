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
  const { combine, orientation } = state;
  const show = choice(scope, "Show", COMBINE, combine);
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
