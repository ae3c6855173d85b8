/** The messages for layers that are not here, and what the reader can do about it. */

import { Absent } from "../data/resource-cache.ts";
import { layerNames } from "./fidelity.ts";

/** @param others the numbers of the layers of this stack that the page has */
export function leftOut(layer: number, others: readonly number[]): Absent {
  return new Absent(`Layer ${layer} was left out of this page${only(others)}.`);
}

/** @param saved the numbers of the layers of this stack that were saved with the widget */
export function notSaved(layer: number, saved: readonly number[]): Absent {
  return new Absent(
    `Layer ${layer} is not saved in this page${only(saved)}, and no kernel is ` +
      "connected. The model view still works. To have all layers, call widget.embed() before " +
      "saving, or run the cell again.",
  );
}

/** The time without an answer from the kernel after which the reader is asked what to do. */
export const SILENCE_MS = 15_000;

/** @param what the missing resource, as "layer 3" */
export const unanswered = (what: string) =>
  `The kernel has not sent ${what} for ${SILENCE_MS / 1000} seconds. It may be busy, and ` +
  "answer later. If it was restarted or stopped, run the cell again.";

function only(numbers: readonly number[]): string {
  return numbers.length ? `, which has ${layerNames(numbers.map((number) => ({ number })))}` : "";
}
