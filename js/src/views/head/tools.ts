/** The controls of the head view: combination of heads, words, orientation. */

import { patchesOn, type StackInfo } from "../../data/manifest.ts";
import type { Store } from "../../data/store.ts";
import { hasWords } from "../../data/units.ts";
import { bound, choice, type Option, optionsOf, toggle } from "../../parts/choice.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { type Choices, combination } from "../../state/choices.ts";
import { shownLens } from "../../state/lens.ts";
import type { State } from "../../state/state.ts";
import { arcsOf } from "../shared/arcs.ts";

const COMBINE = {
  none: "Single heads",
  mean: "Mean of heads",
  max: "Max of heads",
  layers_mean: "Mean of all layers",
  layers_max: "Max of all layers",
};

/** The reason why heads of a stack cannot be combined in this way; null if they can. */
export function combinationLack(
  { difference, layers: [{ signed }] }: StackInfo,
  combine: Choices["combine"],
) {
  const { how, over } = combination(combine) ?? {};
  // The maxima of both records may be of different heads, so they have no difference.
  if (difference && how === "max") {
    return {
      brief: "of A or B alone",
      sentence: "Maxima of A and B may be of different heads: choose A or B, or a mean.",
    };
  }
  if (!signed || (how !== "max" && over !== "layers")) return null;
  return {
    brief: "of weights alone",
    sentence:
      "Coefficients are of either sign, and each layer has its own scale: choose single heads, or the mean of a layer’s heads.",
  };
}

const KEYS = [
  { value: "picture", label: "Picture", title: "Patches on the image" },
  { value: "list", label: "List", title: "Patches as a list of tokens, with lines" },
];

/** @param lens the control of the weighting */
export function headTools(
  scope: Scope,
  state: State,
  store: Store,
  lens: HTMLElement,
): HTMLElement[] {
  const { combine, orientation } = state;
  const shows = () =>
    optionsOf<"combine">(COMBINE).map((option): Option => {
      const why = combinationLack(state.shown.stack.value, option.value as Choices["combine"]);
      return why ? { ...option, label: `${option.label}: ${why.brief}`, off: true } : option;
    });
  const show = choice(scope, "Show", shows, combine);
  const words = toggle(
    scope,
    "Words",
    "Join the tokens of a word: attention to it is their sum, from it their mean",
    state.words,
  );
  const arcs = toggle(
    scope,
    "Annotated",
    "Links that somebody has annotated: solid if the head’s largest weight finds them",
    state.arcs_shown,
  );
  const horizontal = toggle(
    scope,
    "Horizontal",
    "Tokens in lines instead of columns: for short texts, and scripts without spaces",
    bound(
      () => orientation.value === "horizontal",
      (on) => {
        orientation.value = on ? "horizontal" : "vertical";
      },
    ),
  );
  const as = bound(
    () => (state.picture.value ? "picture" : "list"),
    (to) => {
      state.picture.value = to === "picture";
    },
  );
  const keys = choice(scope, "Keys", KEYS, as);
  scope.effect(() => {
    show.classList.toggle("idle", shownLens(state).kind === "layers");
  });
  scope.effect(() => {
    const stack = state.shown.stack.value;
    const shown = shownLens(state);
    keys.hidden = shown.signed || !patchesOn(store.manifest, stack, null);
    const onImage = !keys.hidden && state.picture.value;
    horizontal.hidden = onImage;
    arcs.hidden = onImage || !arcsOf(state, stack.name).length;
    words.hidden = onImage || !shown.adds_up || !hasWords(stack);
  });
  return [keys, show, lens, words, arcs, horizontal];
}
