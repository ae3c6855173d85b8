/** The attention without what is off, which the views can show in place of the record. */

import { type ReadonlySignal, signal } from "@preact/signals-core";
import { steady } from "../../basics/same.ts";
import type { Store } from "../../data/store.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { offNow } from "../../state/off.ts";
import type { State } from "../../state/state.ts";

/**
 * The store of that attention; null while the views show the record.
 *
 * While something else is switched off, it stays that of before until the new one is here.
 */
export function changedStore(
  scope: Scope,
  state: State,
  store: Store,
): ReadonlySignal<Store | null> {
  const result = signal<Store | null>(null);
  const wanted = steady(() => (state.withoutOff.value ? offNow(state) : null));
  scope.scopedEffect((own) => {
    const ask = store.changed;
    if (!wanted.value || !ask) {
      result.value = null;
      state.withoutOff.value = false;
      return;
    }
    ask(wanted.value, own.signal).then(
      (changed) => {
        if (!own.signal.aborted) result.value = changed;
      },
      (error: Error) => {
        if (own.signal.aborted) return;
        state.error.value = error.message;
        state.withoutOff.value = false;
      },
    );
  });
  return result;
}
