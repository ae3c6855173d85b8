/** A view of one layer: waits for its data, and builds its inside anew when layer or size change. */

import { computed, type ReadonlySignal, signal, untracked } from "@preact/signals-core";
import type { Layer } from "../../data/layer.ts";
import { SILENCE_MS, unanswered } from "../../parts/absent.ts";
import { el, replaceContent } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { type State, within } from "../../state/state.ts";
import type { Context, ViewContent } from "./view.ts";

/** Past this, a reader wonders whether anything will come. */
const PATIENCE_MS = 1500;

const NOTHING: ReadonlySignal<readonly []> = signal([]);

/**
 * @param build makes the inside for a layer's data, or null if it waits for more of them. Signals
 * read while it runs make it run again. The scope ends when something else takes the inside's place.
 */
export function layerView(
  context: Context,
  build: (data: Layer, scope: Scope) => ViewContent | null,
): ViewContent {
  const { scope, state, store } = context;
  const element = el("div", { class: "layer-view" });
  const inside = signal<ViewContent | null>(null);
  const { stack, layer: shown } = state.shown;
  // In two steps: asking is for a change of place, and not for an answer that came.
  const wanted = computed(() => store.layer(stack.value.name, shown.value.number));
  const layer = computed(() => wanted.value.value);
  let timer = 0;
  let shownScope = scope.child();

  scope.onEnd(() => clearTimeout(timer));
  scope.effect(() => {
    // Two layers that have both to come look alike, but what is waited for is another.
    wanted.value;
    const current = layer.value;
    clearTimeout(timer);
    if (current.status === "ready") {
      if (context.width.value <= 0) return;
      const own = scope.child();
      try {
        const next = build(current.data, own);
        if (next) replace(next, next.element, own);
        else wait("all layers");
      } catch (error) {
        own.end();
        fail(`Layer ${current.data.info.number} cannot be shown: ${error}`);
      }
    } else if (current.status === "failed") fail(current.message, current.absent);
    else wait(`layer ${shown.peek().number}`);
  });

  /** What is there stays a moment: most layers arrive within a frame or two. */
  function wait(what: string): void {
    timer = window.setTimeout(() => sayWaiting(what), PATIENCE_MS);
  }

  function sayWaiting(what: string): void {
    const reason = store.combines ? " The kernel sends it when it is free." : "";
    replace(null, el("p", { class: "notice" }, `Waiting for ${what}.${reason}`));
    // A page has all that it has, but a kernel may never answer.
    if (store.combines) timer = window.setTimeout(() => offer(what), SILENCE_MS - PATIENCE_MS);
  }

  /** What comes after all takes the place of this. */
  function offer(what: string): void {
    const name = "Ask again";
    // By its label, the focus is taken along where the button goes.
    const again = el("button", { type: "button", class: "control", "aria-label": name }, name);
    again.addEventListener("click", () => {
      store.again();
      sayWaiting(what);
    });
    const said = el("p", {}, unanswered(what));
    replace(null, el("div", { class: "notice absent", role: "alert" }, said, again));
  }

  function fail(message: string, absent?: boolean): void {
    replace(null, el("p", { class: noticeClass(absent), role: "alert" }, message));
  }

  function replace(next: ViewContent | null, content: HTMLElement, own = scope.child()): void {
    untracked(() => {
      const root = element.firstChild ? null : element.closest<HTMLElement>(".root");
      shownScope.end();
      shownScope = own;
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
    figure: () => inside.peek()?.figure() ?? null,
  };
}

const noticeClass = (absent = false) => (absent ? "notice absent" : "notice");

/** An inside that only says something. */
export const notice = (message: string, role?: "alert", absent?: boolean): ViewContent => ({
  element: el("p", { class: noticeClass(absent), role }, message),
  status: NOTHING,
  legend: NOTHING,
  tables: NOTHING,
  figure: () => null,
});

/** The current head, as far as this layer has it: its data may be those of the layer before. */
export const headIn = (state: State, data: Layer) =>
  within(state.shown.head.value, data.info.heads);
