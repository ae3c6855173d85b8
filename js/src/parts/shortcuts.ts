/** The keyboard shortcuts of the whole app. */

import type { Head } from "../data/manifest.ts";
import type { HeadPlace } from "../state/choices.ts";
import { release } from "../state/locks.ts";
import { goTo, stepLayer } from "../state/navigation.ts";
import { switchAllOn, toggleLayerOff, toggleOff } from "../state/off.ts";
import type { State } from "../state/state.ts";
import { COMPARED_KEYS } from "./header.ts";

/** Actions without a choice in the state. */
export interface KeyActions {
  help(): void;
  find(): void;
  copy(): void;
  save(): void;
  /** List the heads that link the locked pair. */
  pair(): void;
  jump(by: 1 | -1): void;
  /** The head that the view looks at. */
  head(): Head;
  /** Cut a link in a head, or in all. */
  cut(at: HeadPlace | null): void;
  /** Release what is locked in the current view alone; false if nothing is. */
  releaseOwn(): boolean;
  /** The action of a key of the current view alone. */
  ofView(key: string): (() => void) | undefined;
}

/** @param only the target of the keys that are taken; all within `root` if it is missing */
export function bindKeys(
  root: HTMLElement,
  state: State,
  { help, find, copy, save, pair, jump, head, cut, releaseOwn, ofView }: KeyActions,
  signal: AbortSignal,
  only?: HTMLElement,
): void {
  const actions: Record<string, () => void> = {
    "[": () => stepLayer(state, -1),
    "]": () => stepLayer(state, 1),
    ",": () => goTo(state, { head: state.shown.head.peek() - 1 }),
    ".": () => goTo(state, { head: state.shown.head.peek() + 1 }),
    "?": help,
    "/": find,
    c: copy,
    s: save,
    h: pair,
    j: () => jump(1),
    J: () => jump(-1),
    x: () => toggleOff(state, head().layer.number, head().head),
    X: () => toggleLayerOff(state, head().layer.number),
    k: () => cut([head().layer.number, head().head]),
    K: () => cut(null),
    Escape: () => {
      if (releaseOwn()) return;
      // First what is locked or looked at, then what is off.
      const held = [state.query, state.key, state.hover].some((each) => each.peek() !== null);
      if (!held) switchAllOn(state);
      state.hover.value = null;
      release(state);
    },
  };
  if (state.manifest.peek().compared) {
    for (const [key, record] of Object.entries(COMPARED_KEYS)) {
      actions[key] = () => {
        state.compared.value = record;
      };
    }
  }
  state.views.forEach((name, index) => {
    actions[`${index + 1}`] = () => {
      state.view.value = name;
    };
  });
  root.addEventListener(
    "keydown",
    (event) => {
      const action = actions[event.key] ?? ofView(event.key.toLowerCase());
      // Some keyboards need Alt for brackets; with a digit or Escape it belongs to the host.
      const alt = event.altKey && !"[],.?/".includes(event.key);
      if (!action || event.ctrlKey || event.metaKey || alt) return;
      if (only && event.target !== only) return;
      if (event.key !== "Escape" && (event.target as Element).matches(TYPED)) return;
      event.preventDefault();
      // A key held down repeats steps, but not the other actions.
      if (!event.repeat || !ONCE.has(event.key)) action();
    },
    { signal },
  );
}

const ONCE = new Set(["?", "/", "c", "s", "h", "r", "v", "n", "x", "X", "k", "K"]);

/** Elements that take letters and digits themselves. */
const TYPED = "input, textarea, select";
