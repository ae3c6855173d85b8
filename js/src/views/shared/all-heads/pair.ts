/** The weight of the locked pair of tokens as a metric, by which heads can be sorted and coloured. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { Metric } from "../../../data/manifest.ts";
import type { Store } from "../../../data/store.ts";
import { lockedPair } from "../../../parts/pair.ts";
import { PAIR } from "../../../state/choices.ts";
import { attentionOf } from "../../../state/lens.ts";
import type { State } from "../../../state/state.ts";

export interface PairMetric {
  /** Null where the weights cannot be had. */
  readonly metric: Metric | null;
  /** The text for the reader, as what to do to get the weights; "" where they are not asked for. */
  readonly remark: string;
}

const NOT_CHOSEN: PairMetric = { metric: null, remark: "" };

/** @param sorts true in a view that sorts heads */
export function pairMetric(state: State, store: Store, sorts: boolean): ReadonlySignal<PairMetric> {
  return computed(() => {
    const sorted = sorts && state.sort.value === PAIR;
    if (!sorted && state.color.value !== PAIR) return NOT_CHOSEN;
    const stack = state.shown.stack.value;
    const { one, many, signed } = attentionOf(state);
    const pair = lockedPair(state);
    if (!pair) {
      const remark = `to sort or colour heads by a ${one}, lock two tokens: click one, Shift+click the other`;
      return { metric: null, remark };
    }
    const loaded = store.stack(stack.name).pair(pair.query, pair.key).value;
    if (loaded.status === "failed") {
      return { metric: null, remark: `the ${many} ${pair.text} are not known: ${loaded.message}` };
    }
    // While they are read, heads have no value.
    const weights = loaded.status === "ready" ? loaded.data : null;
    const values = new Map(stack.layers.map((layer) => [layer, weights?.get(layer.number) ?? []]));
    const { difference } = stack;
    // The numbers beside it may be of many texts.
    const where = store.manifest.texts === null ? "" : " in the text shown";
    const metric = {
      name: PAIR,
      label: `${one} ${pair.text}${where}${difference ? ", B − A" : ""}`,
      unit: "",
      digits: 3,
      signed: signed || difference !== undefined,
      directions: null,
      description: "",
      null: null,
      interval: null,
      values,
    };
    const done = sorted ? `sorted by the ${one} ${pair.text}` : "";
    return { metric, remark: weights ? done : `reading the ${many} ${pair.text} …` };
  });
}
