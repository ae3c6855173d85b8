/** The controls that views share: what colours heads, and the weighting. */

import type { Signal } from "@preact/signals-core";
import type { Metric } from "../../data/manifest.ts";
import type { Store } from "../../data/store.ts";
import { type Bound, bound, choice, type Option } from "../../parts/choice.ts";
import { capitalized } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { PAIR } from "../../state/choices.ts";
import { attentionOf, headLens, lensesOf, shownLens, textLens } from "../../state/lens.ts";
import type { State } from "../../state/state.ts";
import { refusalOf } from "./lenses.ts";

/** A choice that is shown otherwise than it is kept, as where something stands in for it. */
export const shownAs = <Value>(chosen: Signal<Value>, get: () => Value): Bound<Value> =>
  bound(get, (value) => {
    chosen.value = value;
  });

/** An option per metric. */
export const metricOptions = (metrics: readonly Metric[]): readonly Option[] =>
  metrics.map(({ name, label, description }) => ({
    value: name,
    label: capitalized(label),
    title: description,
  }));

/** The menu of what heads are coloured or sorted by: one of these, the locked pair, or a metric. */
export function headsMenu(
  scope: Scope,
  state: State,
  name: string,
  others: readonly Option[],
  chosen: Signal<string>,
): HTMLElement {
  const byPair = () => ({
    value: PAIR,
    label: `${capitalized(attentionOf(state).one)} of locked pair`,
    title: "Of the locked query and key",
  });
  const options = () => [...others, byPair(), ...metricOptions(state.shown.metrics.value)];
  return choice(scope, name, options, chosen);
}

const COLORS = [
  { value: "pattern", label: "Pattern" },
  { value: "layer", label: "Layer" },
];

export const colorMenu = (scope: Scope, state: State): HTMLElement =>
  headsMenu(scope, state, "Colour by", COLORS, state.color);

/** The menu of weightings, and a function that chooses the next that this stack has. */
export function weighting(
  scope: Scope,
  state: State,
  store: Store,
): { readonly control: HTMLElement; next(): void } {
  const view = state.view.peek();
  const lenses = () => lensesOf(state, view);
  const lensOf = view === "model" ? headLens : view === "text" ? textLens : shownLens;
  const shown = shownAs(state.lens, () => lensOf(state).name);
  const options = () =>
    lenses().map((lens): Option => {
      const refusal = refusalOf(state, store, lens);
      const label = refusal ? `${lens.label}: ${refusal}` : lens.label;
      return { value: lens.name, label, title: lens.description, off: refusal !== null };
    });
  const control = choice(scope, "Weighting", options, shown);
  // Reasons make some options long.
  control.classList.add("weighting");
  return {
    control,
    next() {
      const there = lenses().filter((lens) => refusalOf(state, store, lens) === null);
      const at = there.findIndex(({ name }) => name === shown.value);
      shown.value = there[(at + 1) % there.length].name;
    },
  };
}
