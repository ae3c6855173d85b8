/** Links between tokens that are cut: the kernel runs the model again without them. */

import { same } from "../basics/same.ts";
import { unitsOf } from "../data/units.ts";
import type { Cut } from "./choices.ts";
import { lockedOn } from "./locks.ts";
import type { Place, Side, State } from "./state.ts";
import { choose } from "./state.ts";

/** A head by the number of its layer and its own. */
export interface HeadAt {
  readonly layer: number;
  readonly head: number;
}

/**
 * Cut the link that is pointed at, or else the locked one; if it is cut, restore it.
 *
 * Locked tokens of one column alone are cut off from all others, but not from one another.
 *
 * @param at the head; null for every head of all layers
 * @returns false if no token is pointed at or locked
 */
export function toggleCut(state: State, at: HeadAt | null): boolean {
  const link = linkAt(state, state.hover.peek());
  if (!link) return false;
  const heads = at ? ([[at.layer], [at.head]] as const) : ([null, null] as const);
  const cut: Cut = [...link, ...heads];
  const others = state.cut.peek().filter((each) => !same(each, cut));
  const restored = others.length < state.cut.peek().length;
  choose(state, "cut", restored ? others : [...others, cut]);
  return true;
}

/** The current head. */
export const headAt = ({ shown }: State): HeadAt => ({
  layer: shown.layer.peek().number,
  head: shown.head.peek(),
});

/** Restore a link. */
export function restore(state: State, cut: Cut): void {
  choose(
    state,
    "cut",
    state.cut.peek().filter((each) => !same(each, cut)),
  );
}

/** True if the locked link is cut in this head. */
export const isCut = (state: State, { layer, head }: HeadAt): boolean => {
  const link = linkAt(state, null);
  return link !== null && state.cut.value.some((each) => same(each, [...link, [layer], [head]]));
};

/** The cut links of a head. */
export const cutsOf = (state: State, { layer, head }: HeadAt): readonly Cut[] =>
  state.cut.value.filter(
    ([, , layers, heads]) => (layers?.includes(layer) ?? true) && (heads?.includes(head) ?? true),
  );

/** The queries and keys that are pointed at, or else locked; null if there are none. */
export function linkAt(state: State, hovered: Place | null): readonly [Cut[0], Cut[1]] | null {
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
