/** Keyboard navigation on the map. */

import type { Point } from "./layout.ts";
import { pointBeyond } from "./near.ts";

export interface KeyActions {
  /** The points in the order of the model. */
  points(): readonly Point[];
  current(): Point | null;
  move(to: Point): void;
  enter(): void;
  /** Returns false if nothing is marked or looked at. */
  escape(): boolean;
}

export function bindMapKeys(stage: HTMLElement, actions: KeyActions): void {
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = pointAfter(event.key, actions);
    if (next) actions.move(next);
    else if (event.key === "Enter") actions.enter();
    else if (event.key === "Escape" && actions.escape()) event.stopPropagation();
    // An arrow past the last point must not scroll the page.
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
  });
}

function pointAfter(key: string, { points, current }: KeyActions): Point | null {
  const all = points();
  if (key === "Home") return all[0] ?? null;
  if (key === "End") return all.at(-1) ?? null;
  const from = current();
  // The current head may have no place.
  if (!from) return key.startsWith("Arrow") ? (all[0] ?? null) : null;
  return pointBeyond(all, from, key);
}
