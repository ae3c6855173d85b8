/** The controls of the neuron view: vectors, order, comparison, unmuting. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { choice, toggle } from "../../parts/choice.ts";
import { el } from "../../parts/dom.ts";
import { tokenNames } from "../../parts/names.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Neurons } from "../../state/choices.ts";
import { shownTokens } from "../../state/shown.ts";
import type { State } from "../../state/state.ts";
import { compareWith } from "./lock.ts";
import { type Strongest, strongestButton } from "./strongest.ts";

const ORDERS: Readonly<Record<Neurons, string>> = {
  model: "In model order",
  pair: "By |q × k| of the pair",
  sum: "By |q × k| summed",
};

/** The most queries offered for a comparison. */
const OFFERED = 256;

/** @param explained the query to compare, if none is locked */
export function neuronTools(
  scope: Scope,
  state: State,
  explained: ReadonlySignal<number>,
  step: ReadonlySignal<Strongest | null>,
): HTMLElement[] {
  const vectors = toggle(scope, {
    name: "Vectors",
    title: "Show the vectors of queries and keys, or their attention alone",
    value: () => state.expanded.value,
    set: (to) => {
      state.expanded.value = to;
    },
  });
  const order = choice(scope, {
    name: "Neurons",
    options: Object.entries(ORDERS).map(([value, label]) => ({ value, label })),
    value: () => state.neurons.value,
    set: (to) => {
      state.neurons.value = to as Neurons;
    },
  });
  const compare = el("div", { class: "tools" });
  scope.scopedEffect((own) => {
    const stack = state.shown.stack.value;
    const names = tokenNames(stack.queries);
    const { queries } = shownTokens(state.segments.value, stack);
    // Longer lists are unusable: Shift with a click compares instead.
    const offered = queries.length <= OFFERED ? queries : state.also.value.slice(0, 1);
    const control = choice(own, {
      name: "Compare with",
      options: [
        { value: "", label: "None" },
        ...offered.map((at) => ({ value: `${at}`, label: names[at] })),
      ],
      value: () => `${(state.query.value === null ? null : state.also.value[0]) ?? ""}`,
      set: (to) => compareWith(state, to === "" ? null : Number(to), explained.peek()),
    });
    compare.replaceChildren(control);
  });
  const unmute = el("button", { type: "button", class: "control toggle" });
  unmute.addEventListener("click", () => {
    state.muted.value = [];
  });
  const count = computed(() => state.muted.value.length);
  scope.effect(() => {
    unmute.hidden = count.value === 0;
    unmute.textContent = `Unmute all (${count.value})`;
  });
  const strongest = strongestButton(step);
  scope.effect(() => {
    // Without vectors there is nothing to choose.
    const none = state.shown.layer.value.dim === null;
    for (const tool of [vectors, compare]) tool.hidden = none;
    // All keys of a short text are visible.
    strongest.hidden = none || !step.value?.long;
    order.hidden = none || !state.expanded.value;
  });
  return [vectors, order, compare, strongest, unmute];
}
