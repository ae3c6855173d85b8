/** The controls of the model view. */

import { choice, optionsOf, toggle } from "../../parts/choice.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { PAIR } from "../../state/choices.ts";
import type { State } from "../../state/state.ts";
import { colorMenu, metricOptions, orFirst } from "../shared/all-heads/menus.ts";

const THUMBNAILS = { matrix: "Matrix", lines: "Lines" };

/** @param lens the control of the weighting */
export function modelTools(scope: Scope, state: State, lens: HTMLElement): HTMLElement[] {
  const orders = () => [
    { value: "model", label: "As in model" },
    { value: PAIR, label: "Weight of locked pair", title: "Of the locked query and key" },
    ...metricOptions(state),
  ];
  return [
    colorMenu(scope, state),
    choice(scope, "Sort heads", orders, orFirst(state.sort, orders)),
    choice(scope, "Show", optionsOf<"thumbnails">(THUMBNAILS), state.thumbnails),
    lens,
    toggle(scope, "Ranking", "List the heads of all layers by their numbers", state.ranking),
  ];
}
