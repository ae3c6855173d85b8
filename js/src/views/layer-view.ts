/** A view of one layer: waits for its data, and builds its inside anew when layer or size change. */

import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals-core";
import type { LayerData } from "../data/layer.ts";
import { el } from "../parts/dom.ts";
import type { Phrase } from "../parts/text.ts";
import type { Context, View } from "./view.ts";

export interface Inside {
  readonly element: HTMLElement;
  readonly status: ReadonlySignal<Phrase>;
  readonly legend: ReadonlySignal<Phrase>;
  dispose(): void;
}

/** Past this, a reader wonders whether anything will come. */
const PATIENCE_MS = 1500;

const NOTHING: ReadonlySignal<Phrase> = signal([]);

/**
 * @param build makes the inside for a layer's data. Signals read while it runs make it run again.
 */
export function layerView(context: Context, build: (data: LayerData) => Inside): View {
  const { state, store } = context;
  const element = el("div", { class: "layer-view" });
  const inside = signal<Inside | null>(null);
  const layer = computed(() => store.layer(state.stack.value, state.layer.value).value);
  let timer = 0;

  const dispose = effect(() => {
    const current = layer.value;
    clearTimeout(timer);
    if (current.status === "ready") {
      if (context.width.value <= 0) return;
      const next = build(current.data);
      replace(next, next.element);
    } else if (current.status === "failed") {
      replace(null, el("p", { class: "notice", role: "alert" }, current.message));
    } else {
      // What is there stays a moment: most layers arrive within a frame or two.
      timer = window.setTimeout(() => {
        const message = `Waiting for layer ${state.layer.peek()}. The kernel sends it when it is free.`;
        replace(null, el("p", { class: "notice" }, message));
      }, PATIENCE_MS);
    }
  });

  function replace(next: Inside | null, content: HTMLElement): void {
    untracked(() => {
      const refocus = focusedName(element);
      inside.value?.dispose();
      element.replaceChildren(content);
      inside.value = next;
      if (refocus) element.querySelector<HTMLElement>(`[aria-label="${refocus}"]`)?.focus();
    });
  }

  return {
    element,
    status: computed(() => (inside.value?.status ?? NOTHING).value),
    legend: computed(() => (inside.value?.legend ?? NOTHING).value),
    dispose() {
      dispose();
      clearTimeout(timer);
      inside.peek()?.dispose();
    },
  };
}

/** The accessible name of the focused part, so that a rebuild does not lose the keyboard's place. */
function focusedName(element: HTMLElement): string | null {
  const root = element.getRootNode();
  const active = root instanceof ShadowRoot ? root.activeElement : null;
  return active && element.contains(active) ? active.getAttribute("aria-label") : null;
}
