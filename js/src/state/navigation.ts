/** From one layer, head or stack to another; what the reader keeps in sight goes along. */

import { batch } from "@preact/signals-core";
import { layerOf, type Side, type Tokens } from "../data/manifest.ts";
import { lockedSide } from "./locks.ts";
import { has, type State, within } from "./state.ts";

/** Show the layer of another number, and another head: the nearest that there are. */
export function goTo(state: State, { layer, head }: { layer?: number; head?: number }): void {
  const { stack, layer: shown } = state.shown;
  const { number, heads } = layer === undefined ? shown.peek() : layerOf(stack.peek(), layer);
  const drawn = state.heads.peek()?.filter((h) => h < heads);
  const to = within(head ?? state.shown.head.peek(), heads);
  const same = number === shown.peek().number && to === state.shown.head.peek();
  batch(() => {
    if (drawn) state.heads.value = drawn.length ? drawn : null;
    state.head.value = to;
    state.layer.value = number;
    // Neuron 7 of one head has nothing to do with neuron 7 of another.
    if (!same && state.muted.peek().length) state.muted.value = [];
  });
}

/** Show the layer that comes `by` layers after this one in the stack, or the last there is. */
export function stepLayer(state: State, by: number, head = state.shown.head.peek()): void {
  const { layers } = state.shown.stack.peek();
  const at = within(layers.indexOf(state.shown.layer.peek()) + by, layers.length);
  goTo(state, { layer: layers[at].number, head });
}

/** Show another stack: the same layer, head and locks, as far as it has them. */
export function goToStack(state: State, name: string): void {
  const { stack, layer, head } = state.shown;
  const before = { layer: layer.peek().number, head: head.peek() };
  const texts = stack.peek();
  batch(() => {
    state.stack.value = name;
    goTo(state, before);
    const { queries, keys } = stack.peek();
    if (!sameText(texts.queries, queries)) leaveText(state, "query");
    if (!sameText(texts.keys, keys)) leaveText(state, "key");
    if (!has(queries, state.query.peek())) state.query.value = null;
    if (!has(keys, state.key.peek())) state.key.value = null;
    const { labels } = lockedSide(state) === "query" ? queries : keys;
    const none = state.query.peek() === null && state.key.peek() === null;
    state.also.value = none ? [] : state.also.peek().filter((at) => at < labels.length);
    state.muted.value = [];
    state.hover.value = null;
  });
}

const sameText = (a: Tokens, b: Tokens): boolean =>
  a.labels.length === b.labels.length && a.labels.every((label, at) => label === b.labels[at]);

/** Forget the position in a text, which means nothing in another text. */
function leaveText(state: State, side: Side): void {
  state.begin[side] = null;
  state.cursor[side] = -1;
  state.zoom.value = null;
}

/** The heads whose lines are drawn, of a layer with `count` heads. */
export function activeHeads(state: State, count: number): readonly number[] {
  const chosen = state.heads.value?.filter((head) => head < count);
  return chosen?.length ? chosen : [...Array(count).keys()];
}
