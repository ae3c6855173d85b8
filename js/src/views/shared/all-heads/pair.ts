/** The weight of the locked pair of tokens as a metric, by which heads can be sorted. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { Metric } from "../../../data/manifest.ts";
import type { Store } from "../../../data/store.ts";
import { tokenNames } from "../../../parts/text.ts";
import { PAIR } from "../../../state/choices.ts";
import type { State } from "../../../state/state.ts";

export interface PairOrder {
  /** Null while the weights are not here. */
  readonly metric: Metric | null;
  /** The text for the reader, as what to do to get the order; "" where heads are not so sorted. */
  readonly remark: string;
}

const NOT_CHOSEN: PairOrder = { metric: null, remark: "" };

export function pairOrder(state: State, store: Store): ReadonlySignal<PairOrder> {
  return computed(() => {
    if (state.sort.value !== PAIR) return NOT_CHOSEN;
    const stack = state.shown.stack.value;
    const [query, key] = [state.query.value ?? -1, state.key.value ?? -1];
    const [from, to] = [tokenNames(stack.queries)[query], tokenNames(stack.keys)[key]];
    if (from === undefined || to === undefined) {
      return { metric: null, remark: "to sort heads by a weight, lock its query and its key" };
    }
    const pair = `${from} → ${to}`;
    const loaded = store.stack(stack.name).pair(query, key).value;
    if (loaded.status !== "ready") {
      const waiting = loaded.status === "loading";
      return {
        metric: null,
        remark: waiting ? `reading the weights ${pair} …` : `not sorted: ${loaded.message}`,
      };
    }
    const values = new Map(
      stack.layers.map((layer) => [layer, loaded.data.get(layer.number) ?? []]),
    );
    const metric = {
      name: PAIR,
      label: `weight ${pair}`,
      unit: "",
      digits: 3,
      signed: false,
      directions: null,
      description: "",
      null: null,
      interval: null,
      values,
    };
    return { metric, remark: `sorted by the weight ${pair}` };
  });
}
