/** Navigation to another layer, head or stack, which keeps the reader's choices as far as it can. */

import { batch } from "@preact/signals-core";
import { same } from "../basics/same.ts";
import { layerOf, type Side } from "../data/manifest.ts";
import { choose, type State, within } from "./state.ts";

/** Show the layer of another number, and another head: the nearest that there are. */
export function goTo(state: State, to: { layer?: number; head?: number }): void {
  const { stack, layer } = state.shown;
  const { number, heads } = to.layer === undefined ? layer.peek() : layerOf(stack.peek(), to.layer);
  batch(() => {
    choose(state, "layer", number);
    if (to.head !== undefined) choose(state, "head", within(to.head, heads));
  });
}

/** Show a head alone in the head view, or, without one, opened in the model view. */
export function openHead(state: State, layer: number, head: number): void {
  batch(() => {
    goTo(state, { layer, head });
    if (state.views.includes("head")) {
      state.heads.value = [head];
      state.view.value = "head";
    } else if (state.views.includes("model")) {
      state.opened.value = true;
      state.view.value = "model";
    }
  });
}

/** Show the layer that comes `by` layers after this one in the stack, or the last there is. */
export function stepLayer(state: State, by: number): void {
  const { layers } = state.shown.stack.peek();
  const at = within(layers.indexOf(state.shown.layer.peek()) + by, layers.length);
  goTo(state, { layer: layers[at].number });
}

/** Show another stack: the same layer, head and locks, as far as it has them. */
export function goToStack(state: State, name: string): void {
  const { stack } = state.shown;
  const before = stack.peek();
  batch(() => {
    choose(state, "stack", name);
    const { queries, keys } = stack.peek();
    if (!same(before.queries.labels, queries.labels)) leaveText(state, "query");
    if (!same(before.keys.labels, keys.labels)) leaveText(state, "key");
    state.hover.value = null;
  });
}

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
