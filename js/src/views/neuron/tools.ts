/** The controls of the neuron view: vectors, order, comparison, unmuting. */

import type { ReadonlySignal } from "@preact/signals-core";
import { shownTokens } from "../../data/shown.ts";
import { bound, choice, optionsOf, toggle } from "../../parts/choice.ts";
import { button } from "../../parts/dom.ts";
import { tokenNames } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { State } from "../../state/state.ts";
import { compareWith } from "./lock.ts";

const ORDERS = {
  model: "In model order",
  pair: "By |q × k| of the pair",
  sum: "By |q × k| summed",
};

/** The most queries offered for a comparison. */
const OFFERED = 256;

/** The step to the strongest key, and from one to the next, of what is shown. */
export interface Strongest {
  go(by: 1 | -1): void;
  /** True if the text is long, so that most keys are out of sight. */
  readonly long: boolean;
}

/**
 * @param explained the query to compare, if none is locked
 * @param strongest null without keys
 */
export function neuronTools(
  scope: Scope,
  state: State,
  explained: ReadonlySignal<number>,
  strongest: ReadonlySignal<Strongest | null>,
): HTMLElement[] {
  const vectors = toggle(
    scope,
    "Vectors",
    "Show the vectors of queries and keys, or their attention alone",
    state.expanded,
  );
  const order = choice(scope, "Neurons", optionsOf<"neurons">(ORDERS), state.neurons);
  const queries = () => {
    const stack = state.shown.stack.value;
    const names = tokenNames(stack.queries);
    const { queries } = shownTokens(state.segments.value, stack);
    // Longer lists are unusable: Shift with a click compares instead.
    const offered = queries.length <= OFFERED ? queries : state.also.value.slice(0, 1);
    const options = offered.map((at) => ({ value: `${at}`, label: names[at] }));
    return [{ value: "", label: "None" }, ...options];
  };
  const compared = bound(
    () => `${(state.query.value === null ? null : state.also.value[0]) ?? ""}`,
    (at) => compareWith(state, at === "" ? null : Number(at), explained.peek()),
  );
  const compare = choice(scope, "Compare with", queries, compared);
  const unmute = button({ class: "control toggle" }, "", () => {
    state.muted.value = [];
  });
  const title =
    "Lock the strongest key of this query, then the next: j; Shift+J for the one before";
  const next = button({ class: "control toggle", title }, "Strongest key", (event) =>
    strongest.peek()?.go(event.shiftKey ? -1 : 1),
  );
  scope.effect(() => {
    const count = state.muted.value.length;
    unmute.hidden = count === 0;
    unmute.textContent = `Unmute all (${count})`;
  });
  scope.effect(() => {
    // Without vectors there is nothing to choose.
    const none = state.shown.layer.value.dim === null;
    for (const tool of [vectors, compare]) tool.hidden = none;
    // All keys of a short text are visible.
    next.hidden = none || !strongest.value?.long;
    order.hidden = none || !state.expanded.value;
  });
  return [vectors, order, compare, next, unmute];
}
