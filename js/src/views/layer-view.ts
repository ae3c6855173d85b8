/** A view of one layer: waits for its data, and builds its inside anew when layer or size change. */

import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals-core";
import type { Layer } from "../data/remote.ts";
import { el, replaceContent } from "../parts/dom.ts";
import { type State, within } from "../state.ts";
import type { Context, View } from "./view.ts";

export type Inside = Omit<View, "tools">;

/** Past this, a reader wonders whether anything will come. */
const PATIENCE_MS = 1500;

const NOTHING: ReadonlySignal<readonly []> = signal([]);

/**
 * @param build makes the inside for a layer's data, or null if it waits for more of them. Signals
 * read while it runs make it run again.
 */
export function layerView(
  context: Context,
  build: (data: Layer) => Inside | null,
): Omit<View, "tools"> {
  const { state, store } = context;
  const element = el("div", { class: "layer-view" });
  const inside = signal<Inside | null>(null);
  const { stack, layer: shown } = state.shown;
  // In two steps: asking is for a change of place, and not for an answer that came.
  const wanted = computed(() => store.layer(stack.value.name, shown.value.number));
  const layer = computed(() => wanted.value.value);
  let timer = 0;

  const dispose = effect(() => {
    const current = layer.value;
    clearTimeout(timer);
    if (current.status === "ready") {
      if (context.width.value <= 0) return;
      try {
        const next = build(current.data);
        if (next) replace(next, next.element);
        else wait("all layers");
      } catch (error) {
        fail(`Layer ${current.data.info.number} cannot be shown: ${error}`);
      }
    } else if (current.status === "failed") fail(current.message);
    else wait(`layer ${shown.peek().number}`);
  });

  /** What is there stays a moment: most layers arrive within a frame or two. */
  function wait(what: string): void {
    timer = window.setTimeout(() => {
      const reason = store.combines ? " The kernel sends it when it is free." : "";
      const message = `Waiting for ${what}.${reason}`;
      replace(null, el("p", { class: "notice" }, message));
    }, PATIENCE_MS);
  }

  function fail(message: string): void {
    replace(null, el("p", { class: "notice", role: "alert" }, message));
  }

  function replace(next: Inside | null, content: HTMLElement): void {
    untracked(() => {
      const root = element.firstChild ? null : element.closest<HTMLElement>(".root");
      inside.value?.dispose();
      replaceContent(element, content);
      inside.value = next;
      // The keyboard waited there for something to go on with.
      if (root?.matches(":focus")) content.querySelector<HTMLElement>("[tabindex='0']")?.focus();
    });
  }

  return {
    element,
    status: computed(() => (inside.value?.status ?? NOTHING).value),
    legend: computed(() => (inside.value?.legend ?? NOTHING).value),
    tables: computed(() => (inside.value?.tables ?? NOTHING).value),
    dispose() {
      dispose();
      clearTimeout(timer);
      inside.peek()?.dispose();
    },
  };
}

/** An inside that only says something. */
export const notice = (message: string, role?: "alert"): Inside => ({
  element: el("p", { class: "notice", role }, message),
  status: NOTHING,
  legend: NOTHING,
  tables: NOTHING,
  dispose() {},
});

/** The current head, as far as this layer has it: its data may be those of the layer before. */
export const headIn = (state: State, data: Layer) =>
  within(state.shown.head.value, data.info.heads);
