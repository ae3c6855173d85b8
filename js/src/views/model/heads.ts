/** The heads as the model view shows them: in rows, sorted, with a metric in words. */

import { computed, signal } from "@preact/signals-core";
import { metricNamed, rowsOf } from "../shared/all-heads/heads.ts";
import { pairOrder } from "../shared/all-heads/pair.ts";
import { headsView } from "../shared/all-heads/view.ts";
import type { Context } from "../shared/view.ts";
import { lensPictures } from "./lens-pictures.ts";
import type { Panel } from "./panel.ts";

export type ModelHeads = ReturnType<typeof modelHeads>;

export function modelHeads(context: Context) {
  const { state, store } = context;
  const pair = pairOrder(state, store);
  /** Null for the order of the model. */
  const sort = computed(() => pair.value.metric ?? metricNamed(state, state.sort.value));
  const rows = computed(() =>
    rowsOf(state.shown.stack.value, sort.value, {
      layers: state.include_layers.value,
      heads: state.include_heads.value,
    }),
  );
  return {
    ...headsView(context, "model", rows),
    pair,
    sort,
    /** The metric that is written: the one that colours heads, or sorts them, or the first. */
    metric: computed(
      () => metricNamed(state, state.color.value) ?? sort.value ?? state.shown.metrics.value[0],
    ),
    pictures: lensPictures(context, rows),
    /** The opened head; null for none. */
    panel: signal<Panel | null>(null),
  };
}
