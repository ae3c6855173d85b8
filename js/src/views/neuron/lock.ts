/** What a click means in the neuron view: a query and a key are locked each for itself. */

import { batch } from "@preact/signals-core";
import { choose, type Side, type State } from "../../state/state.ts";

/** Lock another query, and keep the key; the locked one is released, and its comparison ends. */
export function lockQuery(state: State, at: number): void {
  choose(state, "query", state.query.peek() === at ? null : at);
}

/** Lock another key for the same query; the locked one is released. */
export function lockKey(state: State, at: number): void {
  batch(() => {
    if (state.query.peek() === null) state.also.value = [];
    choose(state, "key", state.key.peek() === at ? null : at);
  });
}

/** Compare the locked query with another one, or with none; without a locked query lock `explained`. */
export function compareWith(state: State, at: number | null, explained: number): void {
  batch(() => {
    if (at !== null) state.query.value = state.query.peek() ?? explained;
    state.also.value = at === null || at === state.query.peek() ? [] : [at];
  });
}

/** What a click or a key on a token does. */
export function lockBy(
  event: MouseEvent | KeyboardEvent,
  state: State,
  side: Side,
  at: number,
  explained: number,
): void {
  lock(state, side, at, event.shiftKey, explained);
  // Rows that are made anew, higher for two queries, know nothing of where the keyboard was.
  if (event.type === "keydown") state.hover.value = { query: null, key: null, [side]: at };
}

/** @param shift asks for a comparison, which queries have. */
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
