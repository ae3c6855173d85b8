/** The keys that work anywhere in the view. */

import { goTo, type State, stepLayer, VIEWS } from "./state.ts";

/** Handle keys on `root`. `toggleHelp` opens or closes the list of keys, and says if it did. */
export function bindKeys(
  root: HTMLElement,
  state: State,
  toggleHelp: (open?: boolean) => boolean,
  signal: AbortSignal,
): void {
  const actions: Record<string, () => void> = {
    "[": () => stepLayer(state, -1),
    "]": () => stepLayer(state, 1),
    ",": () => goTo(state, { head: state.shown.head.peek() - 1 }),
    ".": () => goTo(state, { head: state.shown.head.peek() + 1 }),
    "?": () => toggleHelp(),
    Escape: () => {
      if (toggleHelp(false)) return;
      state.hover.value = null;
      state.query.value = null;
      state.key.value = null;
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
      const alt = event.altKey && !"[],.?".includes(event.key);
      if (!action || event.ctrlKey || event.metaKey || alt) return;
      event.preventDefault();
      action();
    },
    { signal },
  );
}
