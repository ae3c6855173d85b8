/** The keys that work anywhere in the view. */

import type { Store } from "./data/store.ts";
import { VIEWS } from "./parts/header.ts";
import { type State, setHead, setLayer } from "./state.ts";

/** Handle keys on `root`. `toggleHelp` opens or closes the list of keys, and says if it did. */
export function bindKeys(
  root: HTMLElement,
  state: State,
  store: Store,
  toggleHelp: (open?: boolean) => boolean,
  signal: AbortSignal,
): void {
  const actions: Record<string, () => void> = {
    "[": () => setLayer(state, store, state.layer.peek() - 1),
    "]": () => setLayer(state, store, state.layer.peek() + 1),
    ",": () => setHead(state, store, state.head.peek() - 1),
    ".": () => setHead(state, store, state.head.peek() + 1),
    "?": () => toggleHelp(),
    Escape: () => {
      if (toggleHelp(false)) return;
      state.hover.value = null;
      state.query.value = null;
      state.key.value = null;
    },
  };
  VIEWS.forEach(({ name }, index) => {
    actions[`${index + 1}`] = () => {
      state.view.value = name;
    };
  });
  root.addEventListener(
    "keydown",
    (event) => {
      const action = actions[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    },
    { signal },
  );
}
