/** Tokens that the reader keeps in sight: one pair, or several of one column together. */

import { batch, untracked } from "@preact/signals-core";
import type { Side, State, TokenPair } from "./state.ts";

/** The locked tokens of one column, the one locked last at the front. */
export function lockedOn(state: State, side: Side): readonly number[] {
  const own = state[side].value;
  if (own === null) return [];
  return side === lockedSide(state) ? [own, ...state.also.value] : [own];
}

/** The column in which several tokens are locked, if several are. */
const lockedSide = (state: State): Side => (state.query.value === null ? "key" : "query");

/** Lock a place; the same one again releases it. */
export function toggleLock(state: State, place: TokenPair): void {
  const same =
    state.query.peek() === place.query &&
    state.key.peek() === place.key &&
    !state.also.peek().length;
  lock(state, same ? NOWHERE : place);
}

/** Lock one more token of a column, or release it; what is locked in the other column goes. */
export function toggleAlso(state: State, side: Side, position: number): void {
  const other = otherSide(side);
  const alone = state[other].peek() === null;
  if (!alone && state[side].peek() === position) {
    lock(state, { ...NOWHERE, [other]: state[other].peek() });
    return;
  }
  const before = alone ? untracked(() => lockedOn(state, side)) : [];
  const after = before.includes(position)
    ? before.filter((at) => at !== position)
    : [position, ...before];
  lock(state, { ...NOWHERE, [side]: after[0] ?? null }, after.slice(1));
}

/** Lock a token as a pair with what was locked last in the other column, or release it of the pair. */
export function togglePair(state: State, side: Side, position: number): void {
  const kept = { query: state.query.peek(), key: state.key.peek() };
  lock(state, { ...kept, [side]: kept[side] === position ? null : position });
}

/** Lock a place, and scroll to it. */
export function seek(state: State, place: TokenPair): void {
  batch(() => {
    state.hover.value = null;
    lock(state, place);
    state.sought.value = place;
  });
}

export const otherSide = (side: Side): Side => (side === "query" ? "key" : "query");

/** Release whatever is locked. */
export const release = (state: State) => lock(state, NOWHERE);

const NOWHERE: TokenPair = { query: null, key: null };

/** Lock a place, whatever was locked before. */
export function lock(state: State, { query, key }: TokenPair, also: readonly number[] = []): void {
  batch(() => {
    state.query.value = query;
    state.key.value = key;
    if (also.length || state.also.peek().length) state.also.value = also;
  });
}
