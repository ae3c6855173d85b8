/** The menus in which views of all heads offer metrics. */

import type { Signal } from "@preact/signals-core";
import { type Bound, choice, type Option } from "../../../parts/choice.ts";
import { capitalized } from "../../../parts/text.ts";
import type { Scope } from "../../../scheduling/scope.ts";
import type { State } from "../../../state/state.ts";

/** An option per metric of the stack. */
export const metricOptions = (state: State): readonly Option[] =>
  state.shown.metrics.value.map(({ name, label, description }) => ({
    value: name,
    label: capitalized(label),
    title: description,
  }));

export function colorMenu(scope: Scope, state: State): HTMLElement {
  const colors = () => [
    { value: "pattern", label: "Pattern" },
    { value: "layer", label: "Layer" },
    ...metricOptions(state),
  ];
  return choice(scope, "Colour by", colors, orFirst(state.color, colors));
}

/** A choice as it is shown: the first option if it is none of the options. */
export const orFirst = (
  chosen: Signal<string>,
  options: () => readonly Option[],
): Bound<string> => ({
  get value() {
    const [first, ...others] = options();
    return others.some(({ value }) => value === chosen.value) ? chosen.value : first.value;
  },
  set value(name) {
    chosen.value = name;
  },
});
