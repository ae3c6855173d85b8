/** Locks of the neuron view, where a query and a key are locked separately. */

import { batch } from "@preact/signals-core";
import { choose, type Side, type State } from "../../state/state.ts";

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
