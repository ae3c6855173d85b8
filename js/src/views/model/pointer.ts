/** Pointer events on the heads of the model view. */

import type { Head } from "../../data/manifest.ts";
import type { ModelGrid } from "./grid.ts";

export interface PointerActions {
  /** Called for every move; null where there is no head. */
  hover(head: Head | null): void;
  click(head: Head): void;
  /** Called for a click with Alt: switches the head off, or on again. */
  switchOff(head: Head): void;
  /** Called after one `click`. */
  doubleClick(head: Head): void;
}

/** @param stage holds the grid and the panel of the opened head */
export function bindPointer(stage: HTMLElement, grid: ModelGrid, actions: PointerActions): void {
  /** The head of the first click, since the rows may move before the second. */
  let clicked: Head | null = null;
  stage.addEventListener("click", (event) => {
    if (event.detail > 1) return;
    const head = grid.headAt(event);
    clicked = event.altKey ? null : head;
    if (head && event.altKey) actions.switchOff(head);
    if (clicked) actions.click(clicked);
  });
  stage.addEventListener("dblclick", () => {
    if (clicked) actions.doubleClick(clicked);
  });
  // Not "pointerover", which fires when the grid scrolls under a pointer at rest, too.
  grid.element.addEventListener("pointermove", (event) => {
    // A finger would hide the head that it hovers.
    if (event.pointerType !== "touch") actions.hover(grid.headAt(event));
  });
  grid.element.addEventListener("pointerleave", () => actions.hover(null));
  // The head scrolls away from under the pointer.
  grid.element.addEventListener("wheel", () => actions.hover(null), { passive: true });
}
