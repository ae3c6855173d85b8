/** The heads and links that are off, without which the kernel runs the model again. */

import type { Off } from "../data/requests.ts";
import { type HeadPlace, SCHEMA } from "./choices.ts";
import { choose, type State } from "./state.ts";

/** True if a head of the stack shown is switched off. */
export const isOff = (state: State, layer: number, head: number): boolean =>
  state.off.value.some((place) => same(place, [layer, head]));

/** Switch a head off, or on again. */
export function toggleOff(state: State, layer: number, head: number): void {
  toggleAll(state, [[layer, head]]);
}

/** Switch every head of a layer off; if all of them are, on again. */
export function toggleLayerOff(state: State, layer: number): void {
  const heads = state.shown.stack.peek().layers.find(({ number }) => number === layer)?.heads ?? 0;
  toggleAll(
    state,
    Array.from({ length: heads }, (_, head) => [layer, head]),
  );
}

/** Switch these heads off; if all of them are, on again. */
function toggleAll(state: State, places: readonly HeadPlace[]): void {
  const off = state.off.peek();
  const others = off.filter((place) => !places.some((each) => same(each, place)));
  const allOff = off.length - others.length === places.length;
  switchOff(state, allOff ? others : [...others, ...places]);
}

/** Switch all heads on, and restore all links. */
export function switchAllOn(state: State): void {
  switchOff(state, SCHEMA.off.value);
  choose(state, "cut", SCHEMA.cut.value);
}

/** All that is switched off in the stack shown. */
export function offNow(state: State): Off | null {
  const [heads, cut] = [state.off.value, state.cut.value];
  return heads.length || cut.length ? { stack: state.shown.stack.value.name, heads, cut } : null;
}

function switchOff(state: State, places: readonly HeadPlace[]): void {
  // In the order of the model, as the kernel keeps them.
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  choose(state, "off", sorted);
}

const same = (a: HeadPlace, b: HeadPlace): boolean => a[0] === b[0] && a[1] === b[1];
