/** The bar that says what went wrong, until the reader closes it. */

import type { Scope } from "../scheduling/scope.ts";
import type { State } from "../state/state.ts";
import { el } from "./dom.ts";

/** @param leave gives the focus to the view. */
export function alertBar(scope: Scope, { error }: State, leave: () => void): HTMLElement {
  const message = el("span", { class: "message" });
  const dismiss = el("button", { type: "button", class: "control" }, "Dismiss");
  dismiss.addEventListener("click", () => {
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

/** Whether, of several views of a page, this is in use: none in use, any may be. */
export function isInUse(host: Element, all: readonly Element[]): boolean {
  const used = all.filter((other) => other.matches(":hover, :focus-within"));
  return !used.length || used.includes(host);
}

/**
 * Show what the view throws while it reacts, as to a click, where the reader looks.
 *
 * @param ours whether an error of the page comes from the view's own code.
 */
export function watchErrors(
  { error }: State,
  ours: (event: ErrorEvent) => boolean,
  options: AddEventListenerOptions = {},
): void {
  addEventListener(
    "error",
    (event) => {
      // The browser's own notices, as of a ResizeObserver, carry no error.
      if (!(event.error instanceof Error) || !ours(event)) return;
      error.value = `Something failed in the view, which may be wrong now: ${event.error.message}`;
    },
    options,
  );
}
