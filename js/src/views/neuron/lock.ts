/** Locks of the neuron view, where a query and a key are locked separately, by hand or by rank. */

import { batch, type ReadonlySignal } from "@preact/signals-core";
import { largestFirst } from "../../data/neurons.ts";
import { button } from "../../parts/dom.ts";
import { choose, type Side, type State } from "../../state/state.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import type { Rows } from "./rows.ts";

/** Lock another query and keep the key, or release the locked query and its comparison. */
function lockQuery(state: State, at: number): void {
  choose(state, "query", state.query.peek() === at ? null : at);
}

/** Lock another key and keep the query, or release the locked key. */
function lockKey(state: State, at: number): void {
  batch(() => {
    if (state.query.peek() === null) state.also.value = [];
    choose(state, "key", state.key.peek() === at ? null : at);
  });
}

/** Compare the locked query, or else `explained`, with another one, or with none. */
export function compareWith(state: State, at: number | null, explained: number): void {
  batch(() => {
    if (at !== null) state.query.value = state.query.peek() ?? explained;
    state.also.value = at === null || at === state.query.peek() ? [] : [at];
  });
}

/** Handle a click or a key press on a token. */
export function lockBy(
  event: MouseEvent | KeyboardEvent,
  state: State,
  side: Side,
  at: number,
  explained: number,
): void {
  lock(state, side, at, event.shiftKey, explained);
  // Rebuilt rows, higher for two queries, do not know the position of the keyboard.
  if (event.type === "keydown") state.hover.value = { query: null, key: null, [side]: at };
}

/** @param shift true to compare queries instead */
export function lock(
  state: State,
  side: Side,
  at: number,
  shift: boolean,
  explained: number,
): void {
  if (side === "key") lockKey(state, at);
  else if (!shift) lockQuery(state, at);
  else compareWith(state, state.also.peek()[0] === at ? null : at, explained);
}

/** Lock the explained query and its strongest key, then the next strongest; -1 goes back. */
export type Step = (by: 1 | -1) => void;

export interface Strongest {
  readonly go: Step;
  /** True if the text is long, so that most keys are out of sight. */
  readonly long: boolean;
}

/** Goes through the keys of the explained query, strongest first. */
export function strongestKeys(state: State, analysis: QueryAnalysis, rows: Rows): Strongest {
  const { shown, places } = analysis;
  const go: Step = (by) => {
    const { query, original } = analysis.explanation.peek();
    const order = largestFirst(shown.keys.map((key) => original.weights[key]));
    const ranked = order.map((at) => shown.keys[at]).filter((key) => original.weights[key] > 0);
    if (!ranked.length) return;
    const current = state.query.peek() === query ? ranked.indexOf(state.key.peek() ?? -1) : -1;
    const next = current < 0 ? 0 : (current + by + ranked.length) % ranked.length;
    batch(() => {
      // The pointer may rest on another key.
      state.hover.value = null;
      if (state.query.peek() !== query) state.also.value = [];
      state.query.value = query;
      state.key.value = ranked[next];
    });
    rows.reveal(places.key[ranked[next]]);
  };
  return { go, long: rows.long };
}

/** @param step null without keys */
export function strongestButton(step: ReadonlySignal<Strongest | null>): HTMLElement {
  const title =
    "Lock the strongest key of this query, then the next: j; Shift+J for the one before";
  return button({ class: "control toggle", title }, "Strongest key", (event) =>
    step.peek()?.go(event.shiftKey ? -1 : 1),
  );
}
