/** Asks the kernel for what changes without what is switched off: predictions, and attention. */

import { type ReadonlySignal, signal } from "@preact/signals-core";
import { steady } from "../../basics/same.ts";
import type { Effect } from "../../data/effect.ts";
import { Absent } from "../../data/resource-cache.ts";
import type { Store } from "../../data/store.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { offNow } from "../../state/off.ts";
import type { State } from "../../state/state.ts";

export type Measured =
  | { readonly status: "waiting" }
  | {
      readonly status: "ready";
      readonly effect: Effect;
      /** The query that was locked. */
      readonly query: number | null;
      /** The mean effects of as many other heads; none until they are measured. */
      readonly others: readonly number[];
    }
  | {
      readonly status: "failed";
      readonly message: string;
      /** True if something is needed, rather than broken. */
      readonly absent: boolean;
    };

const NO_KERNEL =
  "Only a notebook with the model shows what it does without this: run the cell again there.";

const WAITING: Measured = { status: "waiting" };

/** The effect of what is off; null while nothing is. */
export function measured(
  scope: Scope,
  state: State,
  store: Store,
): ReadonlySignal<Measured | null> {
  const result = signal<Measured | null>(null);
  // An equal list from the kernel is no news.
  const wanted = steady(() => {
    const off = offNow(state);
    return off && { off, query: state.query.value };
  });
  scope.scopedEffect((own) => {
    if (!wanted.value) {
      result.value = null;
      return;
    }
    const { off, query } = wanted.value;
    const { effects } = store.source;
    if (!effects) {
      result.value = { status: "failed", message: NO_KERNEL, absent: true };
      return;
    }
    result.value = WAITING;
    const settle = (settled: Measured) => {
      if (!own.signal.aborted) result.value = settled;
    };
    effects.effect(off, query, own.signal).then(
      (effect) => {
        const ready = (others: readonly number[]) =>
          settle({ status: "ready", effect, query, others });
        ready([]);
        // What these would say is of the effect itself, which is here.
        effects.others?.(off, own.signal).then(ready, () => {});
      },
      (error: Error) =>
        settle({ status: "failed", message: error.message, absent: error instanceof Absent }),
    );
  });
  return result;
}

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
    const ask = store.source.changed;
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
