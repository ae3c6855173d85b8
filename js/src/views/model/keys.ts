/** The pointer and the keyboard in the grid of the model view. */

import type { Head } from "../../data/manifest.ts";
import { within } from "../../state/state.ts";
import { placeOf, type Row } from "../shared/all-heads/order.ts";
import type { ModelGrid } from "./grid.ts";

export interface KeyActions {
  current(): Head;
  move(to: Head): void;
  enter(): void;
  toggle(): void;
  /** Returns false if nothing is open. */
  escape(): boolean;
}

/** @param stage holds the grid and the panel of the opened head */
export function bindGridKeys(
  stage: HTMLElement,
  grid: ModelGrid,
  rows: readonly Row[],
  actions: KeyActions,
): void {
  grid.element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = headAfter(event.key, actions.current(), rows);
    if (next) actions.move(next);
    else if (event.key === "Enter") actions.enter();
    else if (event.key === " ") actions.toggle();
    else return;
    event.preventDefault();
  });
  stage.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !actions.escape()) return;
    // Escape must not release locked tokens here.
    event.stopPropagation();
    event.preventDefault();
  });
}

/** The head that a key moves to; null for other keys. */
function headAfter(key: string, from: Head, rows: readonly Row[]): Head | null {
  // Start from the first head if this one is not shown.
  const { row, column } = placeOf(rows, from) ?? { row: 0, column: 0 };
  const last = rows[row].heads.length - 1;
  const target: Readonly<Record<string, readonly [row: number, column: number]>> = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [row, 0],
    End: [row, last],
  };
  if (!(key in target)) return null;
  const { layer, heads } = rows[within(target[key][0], rows.length)];
  return { layer, head: heads[within(target[key][1], heads.length)] };
}

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
