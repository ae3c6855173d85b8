/** The controls of the model view. */

import type { Signal } from "@preact/signals-core";
import { choice, type Option, optionsOf } from "../../parts/choice.ts";
import { capitalized } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { PAIR } from "../../state/choices.ts";
import type { State } from "../../state/state.ts";

const THUMBNAILS = { matrix: "Matrix", lines: "Lines" };

export function modelTools(scope: Scope, state: State): HTMLElement[] {
  const byMetric = () =>
    state.shown.metrics.value.map(({ name, label, description }) => ({
      value: name,
      label: capitalized(label),
      title: description,
    }));
  const colors = () => [
    { value: "pattern", label: "Pattern" },
    { value: "layer", label: "Layer" },
    ...byMetric(),
  ];
  const orders = () => [
    { value: "model", label: "As in model" },
    { value: PAIR, label: "Weight of locked pair", title: "Of the locked query and key" },
    ...byMetric(),
  ];
  return [
    choice(scope, "Colour by", colors, orFirst(state.color, colors)),
    choice(scope, "Sort heads", orders, orFirst(state.sort, orders)),
    choice(scope, "Show", optionsOf<"thumbnails">(THUMBNAILS), state.thumbnails),
  ];
}

/** A choice as it is shown: the first option if it is none of the options. */
const orFirst = (chosen: Signal<string>, options: () => readonly Option[]) => ({
  get value() {
    const [first, ...others] = options();
    return others.some(({ value }) => value === chosen.value) ? chosen.value : first.value;
  },
  set value(name) {
    chosen.value = name;
  },
});
