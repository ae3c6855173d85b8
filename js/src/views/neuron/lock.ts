/** Locks of the neuron view, where a query and a key are locked separately, by hand or by rank. */

import { batch } from "@preact/signals-core";
import { largestFirst } from "../../data/neurons.ts";
import { choose, type Side, type State } from "../../state/state.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import type { Rows } from "./rows.ts";

/**
 * Lock a query or a key and keep what is locked on the other side, or release it; with Shift,
 * compare queries instead.
 *
 * @param explained the query that is compared if none is locked
 */
export function lockBy(
  event: MouseEvent | KeyboardEvent,
  state: State,
  side: Side,
  at: number,
  explained: number,
): void {
  if (side === "query" && event.shiftKey) {
    compareWith(state, state.also.peek()[0] === at ? null : at, explained);
  } else {
    batch(() => {
      // A comparison is one of locked queries.
      if (side === "key" && state.query.peek() === null) state.also.value = [];
      choose(state, side, state[side].peek() === at ? null : at);
    });
  }
  // Rebuilt rows, higher for two queries, do not know the position of the keyboard.
  if (event.type === "keydown") state.hover.value = { query: null, key: null, [side]: at };
}

/** Compare the locked query, or else `explained`, with another one, or with none. */
export function compareWith(state: State, at: number | null, explained: number): void {
  batch(() => {
    if (at !== null) state.query.value = state.query.peek() ?? explained;
    state.also.value = at === null || at === state.query.peek() ? [] : [at];
  });
}

/** Lock the explained query and its strongest key, then the next strongest; -1 goes back. */
export function lockStrongest(
  state: State,
  { shown, places, explanation }: QueryAnalysis,
  rows: Rows,
  by: 1 | -1,
): void {
  const { query, original } = explanation.peek();
  const order = largestFirst(shown.keys.map((key) => Math.abs(original.weights[key])));
  const ranked = order.map((at) => shown.keys[at]).filter((key) => original.weights[key]);
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
}
