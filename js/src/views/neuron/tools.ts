/** The controls of the neuron view: vectors, order, comparison, unmuting. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { shownTokens } from "../../data/shown.ts";
import { choice, optionsOf, toggle } from "../../parts/choice.ts";
import { button, el } from "../../parts/dom.ts";
import { tokenNames } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { State } from "../../state/state.ts";
import { compareWith, type Strongest, strongestButton } from "./lock.ts";

const ORDERS = {
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
  const vectors = toggle(
    scope,
    "Vectors",
    "Show the vectors of queries and keys, or their attention alone",
    state.expanded,
  );
  const order = choice(scope, "Neurons", optionsOf<"neurons">(ORDERS), state.neurons);
  const compare = el("div", { class: "tools" });
  scope.scopedEffect((inner) => {
    const stack = state.shown.stack.value;
    const names = tokenNames(stack.queries);
    const { queries } = shownTokens(state.segments.value, stack);
    // Longer lists are unusable: Shift with a click compares instead.
    const offered = queries.length <= OFFERED ? queries : state.also.value.slice(0, 1);
    const options = offered.map((at) => ({ value: `${at}`, label: names[at] }));
    const bound = {
      get value() {
        const compared = state.query.value === null ? null : state.also.value[0];
        return `${compared ?? ""}`;
      },
      set value(at) {
        compareWith(state, at === "" ? null : Number(at), explained.peek());
      },
    };
    const none = { value: "", label: "None" };
    compare.replaceChildren(choice(inner, "Compare with", [none, ...options], bound));
  });
  const unmute = button({ class: "control toggle" }, "", () => {
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
