/** The lines under the header: warnings and notes, and errors until the reader closes them. */

import { computed } from "@preact/signals-core";
import type { Scope } from "../scheduling/scope.ts";
import type { State } from "../state/state.ts";
import { button, el } from "./dom.ts";
import { doubtAbout, doubts } from "./fidelity.ts";

/** A doubt about the text, of one record or one of two. */
const DOUBT = /^([AB]: )?the tokenizer is likely/;

/** @param missing what is not in the record, as "module: reason" or "text: reason"; and doubts */
export function notes(scope: Scope, state: State, missing: readonly string[]): HTMLElement {
  const doubt = el("div", { role: "note", class: "doubt" });
  const saved = el("div", { role: "note", class: "saved" });
  const element = el("div", { class: "notes" }, doubt, saved);
  const absent = missing.filter((each) => !DOUBT.test(each));
  for (const each of missing.filter((each) => DOUBT.test(each))) {
    element.append(el("div", { role: "note" }, `⚠ ${each.replace("the", "The")}`));
  }
  if (absent.length) element.append(absence(absent));
  const { stack, layer } = state.shown;
  const doubtful = computed(() => stack.value.layers.filter((each) => doubts(each).length));
  scope.effect(() => {
    saved.textContent = state.note.value;
    saved.hidden = !saved.textContent;
    const layers = doubtful.value;
    doubt.hidden = !layers.length;
    element.hidden = doubt.hidden && saved.hidden && !missing.length;
    const kinds = [...new Set(layers.flatMap(doubts))].map((kind) => {
      const matching = layers.filter((each) => doubts(each).includes(kind));
      return doubtAbout(matching, kind);
    });
    doubt.textContent = kinds.join(" · ");
    // Stronger if a layer in doubt is in view.
    const here = state.view.value === "model" || layers.includes(layer.value);
    doubt.classList.toggle("here", here);
  });
  return element;
}

function absence(missing: readonly string[]): HTMLElement {
  const heading = "Not in this record:";
  if (missing.length === 1) return el("div", { role: "note" }, `${heading} ${missing[0]}`);
  return el(
    "div",
    { role: "note" },
    el(
      "details",
      {},
      // The title shows all of them without a click.
      el("summary", { title: missing.join("\n") }, `${heading} ${missing.length} parts`),
      el("ul", {}, ...missing.map((reason) => el("li", {}, reason))),
    ),
  );
}

/**
 * The bar that shows an error until the reader closes it.
 *
 * @param leave moves the focus to the view
 */
export function alertBar(scope: Scope, { error }: State, leave: () => void): HTMLElement {
  const message = el("span", { class: "alert-text" });
  const dismiss = button({ class: "control" }, "Dismiss", () => {
    leave();
    error.value = null;
  });
  const element = el("div", { class: "alert", role: "alert" }, message, dismiss);
  scope.effect(() => {
    element.hidden = error.value === null;
    message.textContent = error.value;
  });
  return element;
}

/** True if this of several views on a page is in use, or if none is. */
export function isInUse(host: Element, all: readonly Element[]): boolean {
  const used = all.filter((other) => other.matches(":hover, :focus-within"));
  return !used.length || used.includes(host);
}

/**
 * Show uncaught errors of the view, as from a click, in its alert bar.
 *
 * @param ours tells if an error comes from this view's code
 */
export function watchErrors(
  { error }: State,
  ours: (event: ErrorEvent) => boolean,
  options: AddEventListenerOptions = {},
): void {
  addEventListener(
    "error",
    (event) => {
      // Notices of the browser, as from a ResizeObserver, carry no error.
      if (!(event.error instanceof Error) || !ours(event)) return;
      error.value = `An error occurred, so this view may be wrong: ${event.error.message}`;
    },
    options,
  );
}
