/** The button that cuts the locked link in the current head, or restores it. */

import type { Scope } from "../scheduling/scope.ts";
import { headAt, isCut, linkAt, toggleCut } from "../state/cut.ts";
import type { State } from "../state/state.ts";
import { setAttributes } from "./dom.ts";
import { iconButton } from "./icons.ts";
import { linkName } from "./links.ts";

export function cutButton(scope: Scope, state: State): HTMLElement {
  const element = iconButton({ icon: "scissors", name: "Cut link" });
  element.classList.add("off-button");
  element.addEventListener("click", ({ shiftKey }) => {
    toggleCut(state, shiftKey ? null : headAt(state));
  });
  scope.effect(() => {
    const at = { layer: state.shown.layer.value.number, head: state.shown.head.value };
    const [link, cut] = [linkAt(state, null), isCut(state, at)];
    const what = link && linkName(state.shown.stack.value, link);
    setAttributes(element, {
      "aria-pressed": `${cut}`,
      "aria-disabled": `${!link}`,
      title: what
        ? `${cut ? "Restore" : "Cut"} ${what} in head ${at.layer}-${at.head} (k; in every head: Shift+K)`
        : "Lock a token, or a query and a key, to cut the links between them (k)",
    });
  });
  return element;
}
