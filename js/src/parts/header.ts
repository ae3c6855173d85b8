/** The row above the view: which view, which layer and head, which part of a pair. */

import { computed, effect } from "@preact/signals-core";
import type { Store } from "../data/store.ts";
import { goTo, type Segments, type State, VIEWS, type ViewName } from "../state.ts";
import { disposeAll } from "./dispose.ts";
import { el, setAttributes } from "./dom.ts";
import { stepper } from "./stepper.ts";

const VIEW_LABELS: Record<ViewName, string> = { head: "Head", model: "Model", neuron: "Neuron" };

const SEGMENTS: readonly { value: Segments; label: string }[] = [
  { value: "all", label: "All" },
  { value: "aa", label: "A → A" },
  { value: "ab", label: "A → B" },
  { value: "ba", label: "B → A" },
  { value: "bb", label: "B → B" },
];

export function header(state: State, store: Store, help: HTMLElement): [HTMLElement, () => void] {
  const { stack, layer: shownLayer, head: shownHead } = state.shown;
  const [layer, disposeLayer] = stepper({
    name: "Layer",
    value: shownLayer,
    max: computed(() => stack.value.layers.length - 1),
    set: (to) => goTo(state, { layer: to }),
  });
  const [head, disposeHead] = stepper({
    name: "Head",
    value: shownHead,
    max: computed(() => stack.value.layers[shownLayer.value].heads - 1),
    set: (to) => goTo(state, { head: to }),
  });
  const disposeTitle = effect(() => {
    // Counted by calls of attention, which need not be how the model counts its layers.
    layer.title = stack.value.layers[shownLayer.value].fidelity.module;
  });
  const [tabs, disposeTabs] = viewTabs(state);
  const element = el("header", {}, tabs, layer, head);
  const disposers = [disposeLayer, disposeHead, disposeTabs, disposeTitle];
  if (store.manifest.stacks.some((s) => s.queries.segments)) {
    const [filter, disposeFilter] = segmentFilter(state);
    element.append(filter);
    disposers.push(disposeFilter);
  }
  element.append(help);
  return [element, disposeAll(disposers)];
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

function segmentFilter(state: State): [HTMLElement, () => void] {
  const select = el("select", { "aria-label": "Attention" });
  for (const { value, label } of SEGMENTS) select.append(el("option", { value }, label));
  select.addEventListener("change", () => {
    state.segments.value = select.value as Segments;
  });
  const label = el(
    "label",
    { class: "control" },
    el("span", { class: "label" }, "Attention"),
    select,
  );
  const dispose = effect(() => {
    select.value = state.segments.value;
    // The model view's thumbnails are of whole heads.
    label.hidden = state.view.value === "model";
  });
  return [label, dispose];
}
