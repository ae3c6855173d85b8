/** The buttons that switch the current head off and cut the locked link, or restore them. */

import type { Store } from "../data/store.ts";
import type { Scope } from "../scheduling/scope.ts";
import {
  headNow,
  isCut,
  isOff,
  linkAt,
  toggleCut,
  toggleLayerOff,
  toggleOff,
} from "../state/off.ts";
import type { State } from "../state/state.ts";
import { setAttributes } from "./dom.ts";
import { iconButton } from "./icons.ts";
import { linkName } from "./links.ts";

export function offButton(scope: Scope, state: State, store: Store): HTMLElement {
  const element = iconButton({ icon: "power", name: "Switch head off" });
  element.classList.add("off-button");
  const { stack, layer, head } = state.shown;
  element.addEventListener("click", ({ shiftKey }) => {
    if (shiftKey) toggleLayerOff(state, layer.peek().number);
    else toggleOff(state, layer.peek().number, head.peek());
  });
  scope.effect(() => {
    const [number, at] = [layer.value.number, head.value];
    const off = isOff(state, number, at);
    const to = off ? "on again" : "off, and see what the model does without it";
    setAttributes(element, {
      "aria-pressed": `${off}`,
      title: `${store.effectsHere(stack.value.name)}Switch head ${number}-${at} ${to} (x; the whole layer: Shift+X)`,
    });
  });
  return element;
}

export function cutButton(scope: Scope, state: State): HTMLElement {
  const element = iconButton({ icon: "scissors", name: "Cut link" });
  element.classList.add("off-button");
  element.addEventListener("click", ({ shiftKey }) => {
    toggleCut(state, shiftKey ? null : headNow(state));
  });
  scope.effect(() => {
    const at = headNow(state);
    const [link, cut] = [linkAt(state, null), isCut(state, at)];
    const what = link && linkName(state.shown.stack.value, link);
    setAttributes(element, {
      "aria-pressed": `${cut}`,
      "aria-disabled": `${!link}`,
      title: what
        ? `${cut ? "Restore" : "Cut"} ${what} in head ${at.join("-")} (k; in every head: Shift+K)`
        : "Lock a token, or a query and a key, to cut the links between them (k)",
    });
  });
  return element;
}
