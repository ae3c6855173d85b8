/** What the model view and the map share: where the reader is among all heads, and their colours. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import type { Head } from "../../../data/manifest.ts";
import { goTo, openHead } from "../../../state/navigation.ts";
import { toggleOff } from "../../../state/off.ts";
import { type Context, figureOf } from "../view.ts";
import { coloringOf } from "./color.ts";
import { type Row, sameHead } from "./heads.ts";
import type { PairMetric } from "./pair.ts";
import { segmentsText } from "./thumbnail.ts";
import { headsTable, sampledText } from "./words.ts";

/**
 * @param rows the heads that are shown
 * @param pair the weight of the locked pair, where heads are sorted or coloured by it
 */
export function headsView(
  { state, store, palette }: Context,
  name: "model" | "map",
  rows: ReadonlySignal<readonly Row[]>,
  pair: ReadonlySignal<PairMetric>,
) {
  const { manifest } = store;
  const { stack, layer, head, metrics } = state.shown;
  /** The head that the reader points at, or that the keyboard has moved to. */
  const hovered = signal<Head | null>(null);
  const current = computed<Head>(() => ({ layer: layer.value, head: head.value }));
  const focused = computed(() => hovered.value ?? current.value);
  return {
    rows,
    hovered,
    current,
    focused,
    coloring: computed(() =>
      coloringOf(state, rows.value, manifest, palette.value, pair.value.metric),
    ),
    /** What pictures and numbers are of, where that is not all of this text; "" for nothing. */
    remarks: computed(() => [
      pair.value.remark,
      sampledText(stack.value, manifest),
      segmentsText(store, stack.value, state.segments.value),
    ]),
    /** The numbers of all heads. */
    table: computed(() => {
      const all = [...metrics.value, ...(pair.value.metric ? [pair.value.metric] : [])];
      return headsTable(rows.value, manifest, all);
    }),
    lookAt(to: Head | null) {
      if (!sameHead(to, hovered.peek())) hovered.value = to;
    },
    choose: (to: Head) => goTo(state, { layer: to.layer.number, head: to.head }),
    enter: (to: Head) => openHead(state, to.layer.number, to.head),
    switchOff: (to: Head) => toggleOff(state, to.layer.number, to.head),
    /** The parts of the view that follow. */
    view: {
      head: () => focused.peek(),
      figure: () => figureOf(manifest, name, stack.peek()),
    },
  };
}
