/** One button per head: click toggles its lines, double-click shows it alone. */

import { effect } from "@preact/signals-core";
import { activeHeads, type State } from "../state.ts";
import { alpha, headColor, luminance, rgb } from "../theme.ts";
import { el } from "./dom.ts";

export function swatches(state: State, heads: number): [HTMLElement, () => void] {
  const group = el("div", { class: "swatches", role: "group", "aria-label": "Heads" });
  const buttons = Array.from({ length: heads }, (_, head) => {
    const button = el(
      "button",
      {
        type: "button",
        "aria-label": `Head ${head}`,
        title: `Head ${head}: click to show or hide, double-click for this head alone`,
      },
      `${head}`,
    );
    button.addEventListener("click", () => toggle(state, heads, head));
    button.addEventListener("dblclick", () => solo(state, heads, head));
    return button;
  });
  group.append(...buttons);
  const dispose = effect(() => {
    const active = new Set(activeHeads(state, heads));
    buttons.forEach((button, head) => {
      const color = headColor(head);
      const on = active.has(head);
      button.setAttribute("aria-pressed", `${on}`);
      button.classList.toggle("current", head === state.shown.head.value);
      button.style.background = on ? color : alpha(color, 0.18);
      button.style.color = on ? (luminance(rgb(color)) > 0.179 ? "#000" : "#fff") : "";
    });
  });
  return [group, dispose];
}

/** A head that is switched on also becomes the current one; the last one stays on. */
function toggle(state: State, heads: number, head: number): void {
  const active = new Set(activeHeads(state, heads));
  if (!active.delete(head)) {
    active.add(head);
    state.head.value = head;
  }
  if (active.size) setActive(state, heads, active);
}

function solo(state: State, heads: number, head: number): void {
  const active = activeHeads(state, heads);
  const alone = active.length === 1 && active[0] === head;
  state.head.value = head;
  if (alone) state.heads.value = null;
  else setActive(state, heads, new Set([head]));
}

function setActive(state: State, heads: number, active: ReadonlySet<number>): void {
  state.heads.value = active.size === heads ? null : [...active].sort((a, b) => a - b);
}
