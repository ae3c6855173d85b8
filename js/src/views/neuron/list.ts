/** A listbox of the neurons over the q × k strip, in which the selected ones are muted. */

import { signal } from "@preact/signals-core";
import { el, setAttributes } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { State } from "../../state/state.ts";
import { placeNear } from "./pointer.ts";
import type { QueryAnalysis } from "./query-analysis.ts";

const HOW =
  "A selected neuron is muted: left out of q·k, and of everything that follows from it. " +
  "Enter mutes or unmutes, Shift with an arrow mutes several, Escape unmutes all.";

export function neuronList(scope: Scope, analysis: QueryAnalysis): HTMLElement {
  const { state, neuron, order, muted } = analysis;
  const list = el("div", {
    class: "neuron-list",
    role: "listbox",
    tabindex: 0,
    "aria-label": "Neurons",
    "aria-multiselectable": "true",
    "aria-orientation": "horizontal",
    "aria-description": HOW,
  });
  const options = Array.from(order.peek(), (_, n) => {
    const option = el("div", { role: "option", id: `neuron-${n}`, "aria-label": `Neuron ${n}` });
    option.dataset.neuron = `${n}`;
    return option;
  });
  // The last position of the keyboard, where it continues.
  let cursor: number | null = null;

  /** True while the keyboard is in the list. */
  const keyed = signal(false);

  bindMuting(list, analysis);
  list.addEventListener("focus", () => {
    keyed.value = true;
  });
  list.addEventListener("keydown", (event) => {
    // The keyboard continues at the pointer.
    cursor = neuron.peek() ?? cursor;
    const at = cursor === null ? -1 : order.peek().indexOf(cursor);
    const last = options.length - 1;
    const to = {
      ArrowRight: Math.min(at + 1, last),
      ArrowLeft: at < 0 ? last : Math.max(at - 1, 0),
      Home: 0,
      End: last,
    }[event.key];
    if (to !== undefined) {
      cursor = order.peek()[to];
      neuron.value = cursor;
      if (event.shiftKey && at >= 0) {
        const passed = order.peek().slice(Math.min(at, to), Math.max(at, to) + 1);
        mute(state, muted.peek(), passed, true);
      }
      revealSideways(options[cursor]);
    } else if ((event.key === "Enter" || event.key === " ") && cursor !== null) {
      mute(state, muted.peek(), [cursor], !muted.peek().includes(cursor));
    } else if (event.key === "Escape" && muted.peek().length) {
      state.muted.value = [];
      event.stopPropagation();
    } else return;
    event.preventDefault();
  });
  list.addEventListener("blur", () => {
    keyed.value = false;
    neuron.value = null;
  });

  scope.effect(() => list.replaceChildren(...order.value.map((n) => options[n])));
  scope.effect(() => {
    const out = new Set(muted.value);
    options.forEach((option, n) => {
      option.setAttribute("aria-selected", `${out.has(n)}`);
    });
  });
  scope.effect(() => {
    // Screen readers follow the keyboard; each move of the pointer would change the element.
    const active = keyed.value ? neuron.value : null;
    setAttributes(list, { "aria-activedescendant": active === null ? null : `neuron-${active}` });
  });
  return list;
}

/** Scroll the body horizontally, and nothing around it, until the neuron is visible. */
function revealSideways(option: Element): void {
  const scroller = option.closest(".body");
  if (!scroller) return;
  const [outer, inner] = [scroller.getBoundingClientRect(), option.getBoundingClientRect()];
  if (inner.right > outer.right) scroller.scrollLeft += inner.right - outer.right;
  else if (inner.left < outer.left) scroller.scrollLeft += inner.left - outer.left;
}

/** The distance in CSS pixels from which a press is a drag. */
const DRAG_FROM = 4;

/** Mute or unmute a neuron on click; a drag does the same to all that it passes. */
function bindMuting(list: HTMLElement, analysis: QueryAnalysis): void {
  const { state, order, muted, neuron } = analysis;
  /** The press at `x` on the neuron at the place `from`, and what was muted before. */
  let drag: { x: number; from: number; before: readonly number[]; muting: boolean } | null = null;
  /** @param key to mean the strongest of narrow cells; null for the cell itself */
  const placeAt = (x: number, key: number | null = null) => {
    const { left, width } = list.getBoundingClientRect();
    return placeNear(analysis, x - left, width, key);
  };
  const draw = ({ clientX }: PointerEvent) => {
    if (!drag) return;
    const { x, from } = drag;
    const passed =
      Math.abs(clientX - x) < DRAG_FROM ? [from, from] : [placeAt(x), placeAt(clientX)];
    const [first, last] = passed.sort((a, b) => a - b);
    mute(state, drag.before, order.peek().slice(first, last + 1), drag.muting);
  };
  list.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const x = event.clientX;
    const from = placeAt(x, analysis.focusKey.peek());
    const before = muted.peek();
    drag = { x, from, before, muting: !before.includes(order.peek()[from]) };
    list.setPointerCapture(event.pointerId);
    draw(event);
  });
  list.addEventListener("pointermove", (event) => {
    if (!drag) return;
    // Keep the focused key, and with it the order of the neurons.
    event.stopPropagation();
    neuron.value = order.peek()[placeAt(event.clientX)];
    draw(event);
  });
  list.addEventListener("pointerup", () => {
    drag = null;
  });
  // Undo what a finger muted before it began to scroll.
  list.addEventListener("pointercancel", () => {
    if (drag) state.muted.value = drag.before;
    drag = null;
  });
}

function mute(
  state: State,
  before: readonly number[],
  neurons: readonly number[],
  muting: boolean,
): void {
  const others = before.filter((n) => !neurons.includes(n));
  state.muted.value = (muting ? [...others, ...neurons] : others).sort((a, b) => a - b);
}
