/** The keys that work anywhere in the view. */

import { release } from "../state/locks.ts";
import { goTo, stepLayer } from "../state/navigation.ts";
import type { State } from "../state/state.ts";

/** Actions that are not choices, and so not in the state. */
export interface KeyActions {
  help(): void;
  find(): void;
  copy(): void;
  save(): void;
  jump(by: 1 | -1): void;
}

/** Handle keys on `root`. */
export function bindKeys(
  root: HTMLElement,
  state: State,
  { help, find, copy, save, jump }: KeyActions,
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
    s: save,
    j: () => jump(1),
    J: () => jump(-1),
    Escape: () => {
      state.hover.value = null;
      release(state);
    },
  };
  state.views.forEach((name, index) => {
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
      // Held down, a key steps on and on; but one figure is enough.
      if (!event.repeat || !ONCE.has(event.key)) action();
    },
    { signal },
  );
}

const ONCE = new Set(["?", "/", "c", "s"]);

/** Elements that take letters and digits; in a list of options they choose one. */
const TYPED = "input, textarea, select";
