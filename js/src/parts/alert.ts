/** The bar that shows an error until the reader closes it. */

import type { Scope } from "../scheduling/scope.ts";
import type { State } from "../state/state.ts";
import { button, el } from "./dom.ts";

/** @param leave moves the focus to the view */
export function alertBar(scope: Scope, { error }: State, leave: () => void): HTMLElement {
  const message = el("span", { class: "message" });
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
