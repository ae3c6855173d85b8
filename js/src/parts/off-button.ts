/** The button that switches the current head off, or on again. */

import type { Store } from "../data/store.ts";
import type { Scope } from "../scheduling/scope.ts";
import { isOff, toggleLayerOff, toggleOff } from "../state/off.ts";
import type { State } from "../state/state.ts";
import { setAttributes } from "./dom.ts";
import { iconButton } from "./icons.ts";

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
