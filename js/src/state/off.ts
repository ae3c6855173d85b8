/** The heads and links that are off, without which the kernel runs the model again. */

import { same } from "../basics/same.ts";
import type { Off } from "../data/requests.ts";
import { unitsOf } from "../data/units.ts";
import { type Cut, type HeadPlace, SCHEMA } from "./choices.ts";
import { lockedOn } from "./locks.ts";
import { choose, type Side, type State, type TokenPair } from "./state.ts";

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

/**
 * Cut the link that is pointed at, or else the locked one; if it is cut, restore it.
 *
 * Locked tokens of one column alone are cut off from all others, but not from one another.
 *
 * @param at the head; null for every head of all layers
 * @returns false if no token is pointed at or locked
 */
export function toggleCut(state: State, at: HeadPlace | null): boolean {
  const link = linkAt(state, state.hover.peek());
  if (!link) return false;
  const heads = at ? ([[at[0]], [at[1]]] as const) : ([null, null] as const);
  const cut: Cut = [...link, ...heads];
  const others = state.cut.peek().filter((each) => !same(each, cut));
  const restored = others.length < state.cut.peek().length;
  choose(state, "cut", restored ? others : [...others, cut]);
  return true;
}

/** The current head. */
export const headNow = ({ shown }: State): HeadPlace => [
  shown.layer.value.number,
  shown.head.value,
];

/** Restore a link. */
export function restore(state: State, cut: Cut): void {
  choose(
    state,
    "cut",
    state.cut.peek().filter((each) => !same(each, cut)),
  );
}

/** True if the locked link is cut in this head. */
export const isCut = (state: State, [layer, head]: HeadPlace): boolean => {
  const link = linkAt(state, null);
  return link !== null && state.cut.value.some((each) => same(each, [...link, [layer], [head]]));
};

/** The cut links of a head. */
export const cutsOf = (state: State, [layer, head]: HeadPlace): readonly Cut[] =>
  state.cut.value.filter(
    ([, , layers, heads]) => (layers?.includes(layer) ?? true) && (heads?.includes(head) ?? true),
  );

/** The queries and keys that are pointed at, or else locked; null if there are none. */
export function linkAt(state: State, hovered: TokenPair | null): readonly [Cut[0], Cut[1]] | null {
  const { queries, keys } = state.shown.stack.value;
  const on = (side: Side) => {
    const at = hovered?.[side] ?? null;
    const units = unitsOf(side === "query" ? queries : keys, state.words.value);
    const tokens = at === null ? lockedOn(state, side) : [at];
    return inOrder(tokens.flatMap((position) => units.tokens[units.of[position]] ?? []));
  };
  const [from, to] = [on("query"), on("key")];
  if (from.length && to.length) return [from, to];
  const chosen = from.length ? from : to;
  if (!chosen.length) return null;
  const oneText = String(queries.labels) === String(keys.labels);
  const { labels } = from.length ? keys : queries;
  const others = labels.flatMap((_, at) => (oneText && chosen.includes(at) ? [] : [at]));
  // A token that is the whole text has no other.
  if (!others.length) return null;
  return from.length ? [from, others] : [others, to];
}

const inOrder = (numbers: readonly number[]) => [...new Set(numbers)].sort((a, b) => a - b);
