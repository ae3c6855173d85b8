/** As a view does: what is in a store is wanted while someone watches it. */

import { effect, type ReadonlySignal } from "@preact/signals-core";
import { onTestFinished } from "vitest";

/** Until the end of the test, or until what this returns is called. */
export function watch(state: ReadonlySignal<unknown>): () => void {
  const end = effect(() => {
    state.value;
  });
  onTestFinished(end);
  return end;
}
