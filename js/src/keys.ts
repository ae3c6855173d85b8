/** The keys that work anywhere in the view. */

import { VIEWS } from "./choices.ts";
import { release } from "./locks.ts";
import { goTo, stepLayer } from "./navigation.ts";
import type { State } from "./state.ts";

/** What is not a choice, and so not in the state. */
export interface KeyActions {
  help(): void;
  find(): void;
  copy(): void;
  jump(by: 1 | -1): void;
}

/** Handle keys on `root`. */
export function bindKeys(
  root: HTMLElement,
  state: State,
  { help, find, copy, jump }: KeyActions,
  signal: AbortSignal,
): void {
  const actions: Record<string, () => void> = {
    "[": () => stepLayer(state, -1),
    "]": () => stepLayer(state, 1),
    ",": () => goTo(state, { head: state.shown.head.peek() - 1 }),
    ".": () => goTo(state, { head: state.shown.head.peek() + 1 }),
    "?": help,
    "/": find,
    c: copy,
    j: () => jump(1),
    J: () => jump(-1),
    Escape: () => {
      state.hover.value = null;
      release(state);
    },
  };
  VIEWS.forEach((name, index) => {
    actions[`${index + 1}`] = () => {
      state.view.value = name;
    };
  });
  root.addEventListener(
    "keydown",
    (event) => {
      const action = actions[event.key];
      // Some keyboards need Alt for brackets; with a digit or Escape it is the host's.
      const alt = event.altKey && !"[],.?/".includes(event.key);
      if (!action || event.ctrlKey || event.metaKey || alt) return;
      if (event.key !== "Escape" && (event.target as Element).matches(TYPED)) return;
      event.preventDefault();
      action();
    },
    { signal },
  );
}

/** What letters and digits are typed into; in a list of options they choose one. */
const TYPED = "input, textarea, select";
