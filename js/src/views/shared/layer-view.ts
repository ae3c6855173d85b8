/** A view of one layer: waits for it, and rebuilds its content when layer or size change. */

import { computed, type ReadonlySignal, signal, untracked } from "@preact/signals-core";
import type { Layer } from "../../data/layer.ts";
import { button, el, replaceContent } from "../../parts/dom.ts";
import { SILENCE_MS, unanswered } from "../../parts/fidelity.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { type State, within } from "../../state/state.ts";
import type { Context, ViewContent } from "./view.ts";

/** The delay before the view says that it is waiting. */
const PATIENCE_MS = 1500;

const NOTHING: ReadonlySignal<readonly []> = signal([]);

/**
 * @param build builds the content for a layer, or returns null if it waits for more data. Runs
 * again when a signal that it reads changes. The scope ends when the content is replaced.
 */
export function layerView(
  context: Context,
  build: (data: Layer, scope: Scope) => ViewContent | null,
): ViewContent {
  const { scope, state, store } = context;
  const element = el("div", { class: "layer-view" });
  const viewContent = signal<ViewContent | null>(null);
  const { stack, layer: shown } = state.shown;
  // A computed of its own, so that an answer does not cause another request.
  const request = computed(() => store.stack(stack.value.name).layer(shown.value.number));
  const layer = computed(() => request.value.value);
  let timer = 0;
  let shownScope = scope.child();

  scope.onEnd(() => clearTimeout(timer));
  scope.effect(() => {
    // Depend on the request too: two layers that are loading have equal answers.
    request.value;
    const current = layer.value;
    clearTimeout(timer);
    if (current.status === "ready") {
      if (context.width.value <= 0) return;
      const contentScope = scope.child();
      try {
        const next = build(current.data, contentScope);
        if (next) replace(next, next.element, contentScope);
        else wait("all layers");
      } catch (error) {
        contentScope.end();
        fail(`Layer ${current.data.info.number} cannot be shown: ${error}`);
      }
    } else if (current.status === "failed") fail(current.message, current.absent);
    else wait(`layer ${shown.peek().number}`);
  });

  /** Keep the old content for a moment, since most layers arrive within a frame or two. */
  function wait(what: string): void {
    timer = window.setTimeout(() => showWaiting(what), PATIENCE_MS);
  }

  function showWaiting(what: string): void {
    const reason = store.live ? " The kernel may be busy." : "";
    replace(null, el("p", { class: "notice" }, `Waiting for ${what}.${reason}`));
    // Only a kernel may never answer.
    if (store.live) timer = window.setTimeout(() => offerRetry(what), SILENCE_MS - PATIENCE_MS);
  }

  /** Offer to ask again. A late answer replaces this. */
  function offerRetry(what: string): void {
    const name = "Ask again";
    // The label keeps the focus when the button is replaced.
    const again = button({ class: "control", "aria-label": name }, name, () => {
      store.again();
      showWaiting(what);
    });
    const message = el("p", {}, unanswered(what));
    replace(null, el("div", { class: "notice absent", role: "alert" }, message, again));
  }

  function fail(message: string, absent?: boolean): void {
    replace(null, notice(message, "alert", absent).element);
  }

  function replace(
    next: ViewContent | null,
    content: HTMLElement,
    contentScope = scope.child(),
  ): void {
    untracked(() => {
      const root = element.firstChild ? null : element.closest<HTMLElement>(".root");
      shownScope.end();
      shownScope = contentScope;
      // A notice takes the height of the content before it, so that the page does not jump.
      element.style.minHeight = next ? "" : `${element.offsetHeight}px`;
      replaceContent(element, content);
      viewContent.value = next;
      // Move the focus from the root to the first content.
      if (root?.matches(":focus")) content.querySelector<HTMLElement>("[tabindex='0']")?.focus();
    });
  }

  return {
    element,
    status: computed(() => (viewContent.value?.status ?? NOTHING).value),
    legend: computed(() => (viewContent.value?.legend ?? NOTHING).value),
    tables: computed(() => (viewContent.value?.tables ?? NOTHING).value),
    figure: () => viewContent.peek()?.figure() ?? null,
  };
}

export const notice = (message: string, role?: "alert", absent = false): ViewContent => ({
  element: el("p", { class: absent ? "notice absent" : "notice", role }, message),
  status: NOTHING,
  legend: NOTHING,
  tables: NOTHING,
  figure: () => null,
});

/** The current head, limited to this layer's heads: the data may still be of the previous layer. */
export const headIn = (state: State, data: Layer) =>
  within(state.shown.head.value, data.info.heads);
