/** The row above the view: which view, which layer and head, which attention. */

import { computed, effect } from "@preact/signals-core";
import type { Store } from "../data/store.ts";
import { goTo, type State, VIEWS, type ViewName } from "../state.ts";
import { disposeAll } from "./dispose.ts";
import { el, setAttributes } from "./dom.ts";
import { filters } from "./filters.ts";
import { stepper } from "./stepper.ts";

const VIEW_LABELS: Record<ViewName, string> = { head: "Head", model: "Model", neuron: "Neuron" };

export function header(state: State, store: Store, help: HTMLElement): [HTMLElement, () => void] {
  const { stack, layer: shownLayer, head: shownHead } = state.shown;
  const [layer, disposeLayer] = stepper({
    name: "Layer",
    value: computed(() => shownLayer.value.number),
    values: computed(() => stack.value.layers.map(({ number }) => number)),
    set: (to) => goTo(state, { layer: to }),
  });
  const [head, disposeHead] = stepper({
    name: "Head",
    value: shownHead,
    values: computed(() => Array.from({ length: shownLayer.value.heads }, (_, n) => n)),
    set: (to) => goTo(state, { head: to }),
  });
  const disposeTitle = effect(() => {
    layer.title = shownLayer.value.fidelity.module;
  });
  const [tabs, disposeTabs] = viewTabs(state);
  const [choices, disposeChoices] = filters(state, store.manifest);
  const element = el("header", {}, tabs, layer, head, ...choices, help);
  const dispose = [disposeLayer, disposeHead, disposeTabs, disposeTitle, disposeChoices];
  return [element, disposeAll(dispose)];
}

function viewTabs(state: State): [HTMLElement, () => void] {
  const list = el("div", { role: "tablist", "aria-label": "View" });
  const tabs = VIEWS.map((name) => {
    const tab = el(
      "button",
      { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "view" },
      VIEW_LABELS[name],
    );
    tab.addEventListener("click", () => {
      state.view.value = name;
    });
    return tab;
  });
  list.append(...tabs);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (VIEWS.indexOf(state.view.peek()) + step + VIEWS.length) % VIEWS.length;
    state.view.value = VIEWS[next];
    tabs[next].focus();
  });
  const dispose = effect(() => {
    VIEWS.forEach((name, index) => {
      const selected = name === state.view.value;
      setAttributes(tabs[index], { "aria-selected": `${selected}`, tabindex: selected ? 0 : -1 });
    });
  });
  return [list, dispose];
}
