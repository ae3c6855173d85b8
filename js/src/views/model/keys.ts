/** Keyboard navigation in the model view's grid. */

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
