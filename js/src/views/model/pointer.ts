/** What the pointer does to the heads of the model view. */

import type { Head } from "../../data/manifest.ts";
import type { ModelGrid } from "./grid.ts";

export interface PointerActions {
  /** Comes for every move: null where there is no head. */
  hover(head: Head | null): void;
  click(head: Head): void;
  /** Comes after one `click`. */
  doubleClick(head: Head): void;
}

/** @param stage holds the grid, and what is opened between its rows. */
export function bindPointer(stage: HTMLElement, grid: ModelGrid, actions: PointerActions): void {
  /** The rows may move before a second click: the first one says which head was meant. */
  let clicked: Head | null = null;
  stage.addEventListener("click", (event) => {
    if (event.detail > 1) return;
    clicked = grid.headAt(event);
    if (clicked) actions.click(clicked);
  });
  stage.addEventListener("dblclick", () => {
    if (clicked) actions.doubleClick(clicked);
  });
  // Not "pointerover", which also comes when the grid scrolls by under a pointer that rests.
  grid.element.addEventListener("pointermove", (event) => {
    // A finger hides what it is on.
    if (event.pointerType !== "touch") actions.hover(grid.headAt(event));
  });
  grid.element.addEventListener("pointerleave", () => actions.hover(null));
}
