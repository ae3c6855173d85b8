/** The locked pair of tokens: a chip that names it, and leads to the heads that link it. */

import { batch, untracked } from "@preact/signals-core";
import { unitsOf } from "../data/units.ts";
import type { Scope } from "../scheduling/scope.ts";
import { PAIR } from "../state/choices.ts";
import { attentionOf, joinsWords } from "../state/lens.ts";
import { release } from "../state/locks.ts";
import type { State } from "../state/state.ts";
import { button, el, setAttributes } from "./dom.ts";
import { iconButton } from "./icons.ts";
import { tokenNames } from "./text.ts";

/** The locked query and key, with their names; null unless one of each is locked. */
export function lockedPair({ query, key, also, shown }: State) {
  const { queries, keys } = shown.stack.value;
  const [from, to] = [query.value ?? -1, key.value ?? -1];
  const [name, other] = [tokenNames(queries)[from], tokenNames(keys)[to]];
  // Of several tokens on one side, nothing says which is meant.
  if (name === undefined || other === undefined || also.value.length) return null;
  const names = [name, other] as const;
  return { query: from, key: to, names, text: names.join(" → ") };
}

/** The view that lists heads, or at least colours them. */
const viewOfHeads = ({ views }: State) =>
  (["model", "map"] as const).find((name) => views.includes(name));

/** List all heads by the weight of the locked pair, and colour them by it; returns why not, or "". */
export function showLinking(state: State): string {
  const view = viewOfHeads(state);
  if (!view) return "The heads that link two tokens are in the model view, which is not here";
  if (!untracked(() => lockedPair(state))) {
    return "Lock two tokens first: click one, Shift+click the other";
  }
  batch(() => {
    state.sort.value = PAIR;
    state.color.value = PAIR;
    state.ranking.value = true;
    state.view.value = view;
  });
  return "";
}

/** @param leave moves the focus to the view */
export function pairChip(scope: Scope, state: State, leave: () => void): HTMLElement {
  const named = el("strong", {});
  const show = button({}, "Heads that link ", () => {
    showLinking(state);
    leave();
  });
  show.append(named);
  const free = iconButton({ icon: "close", name: "Release" });
  free.addEventListener("click", () => {
    leave();
    release(state);
  });
  const element = el("div", { class: "pair-chip", role: "group" }, show, free);
  scope.effect(() => {
    const pair = lockedPair(state);
    // The status line of the neuron view needs its room.
    element.hidden = !pair || !viewOfHeads(state) || state.view.value === "neuron";
    if (!pair) return;
    const { text } = pair;
    // The weight is of two tokens; the lists name their words.
    const { queries, keys } = state.shown.stack.value;
    const words = [unitsOf(queries, joinsWords(state)), unitsOf(keys, joinsWords(state))];
    const [from, to] = [pair.query, pair.key].map((position, side) =>
      el("bdi", {}, tokenNames(words[side])[words[side].of[position]]),
    );
    named.replaceChildren(from, " → ", to);
    setAttributes(element, { "aria-label": `Locked: ${text}` });
    setAttributes(show, {
      title: `Rank and colour all heads by the ${attentionOf(state).one} ${text} (h)`,
    });
    setAttributes(free, { "aria-label": `Release ${text}`, title: `Release ${text} (Esc)` });
  });
  return element;
}
