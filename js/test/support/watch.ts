/** Watches a signal as a view does, so that a store fetches it. */

import { effect, type ReadonlySignal } from "@preact/signals-core";
import { onTestFinished } from "vitest";

/** Watch until the test ends, or the returned function is called. */
export function watch(state: ReadonlySignal<unknown>): () => void {
  const end = effect(() => {
    state.value;
  });
  onTestFinished(end);
  return end;
}
