/** The neuron view without vectors: queries, curves as opaque as the weights, keys, softmax bars. */

import { computed, effect } from "@preact/signals-core";
import { headSheet } from "../../data/sheets.ts";
import { disposeAll } from "../../parts/dispose.ts";
import { el, sizeCanvas } from "../../parts/dom.ts";
import { headColors } from "../../parts/head-colors.ts";
import { uniformTrack } from "../../parts/track.ts";
import { axesOf } from "../axes.ts";
import { lines } from "../lines.ts";
import { paintBars } from "./bars.ts";
import { type Columns, type ColumnsOptions, heightOf, sinkLabel, stand, upTo } from "./columns.ts";
import { barHeads, drawHeads } from "./heads.ts";
import { NUMBER_WIDTH } from "./layout.ts";

export function collapsedColumns(options: ColumnsOptions): Columns {
  const { state, facts, palette, width, labels, rowHeight, queries, keys } = options;
  const { data, shown, head } = facts;
  const gap = 6;
  const bars = Math.min(140, Math.round(width * 0.15));
  const room = width - 2 * labels - bars - NUMBER_WIDTH - 3 * gap;
  const curves = Math.max(120, Math.min(520, room));
  const keyLabels = labels + curves + 2 * gap;
  const left = keyLabels + labels + gap;
  const weights = { left, width: bars, end: left + bars + NUMBER_WIDTH };

  const look = computed(() => {
    const query = state.focus.value.query ?? state.query.value;
    return { query: shown.queries.filter((at) => at === query), key: [] };
  });
  const sheet = computed(() => headSheet(data, head.value));
  const drawn = lines({
    // Neurons are of tokens, also while words are chosen.
    axes: axesOf(state, data.stack, false),
    tracks: {
      query: uniformTrack(shown.queries.length, rowHeight),
      key: uniformTrack(shown.keys.length, rowHeight),
    },
    across: curves,
    horizontal: false,
    sheets: computed(() => [sheet.value]),
    colors: computed(() => [headColors(data.info.heads, palette.value.dark)[head.value]]),
    look,
    strips: computed(() =>
      look.value.query.length ? [sheet.value.row(look.value.query[0])] : null,
    ),
  });
  const [sink, disposeSink] = sinkLabel(facts, keyLabels, labels, rowHeight);
  const canvas = el("canvas", { "aria-hidden": "true" });
  const names = upTo(keyLabels, queries);
  const stage = el("div", { class: "neurons" }, canvas, drawn.element, names, keys, sink);
  stand(drawn.element, labels + gap, curves);
  stand(queries, 0, labels);
  stand(keys, keyLabels, labels);
  const heads = el("div", { class: "column-heads" });
  const element = el("div", { class: "neuron-view" }, heads, stage);
  const disposers = [
    effect(() =>
      drawHeads(heads, [
        {
          name: ["Attention"],
          detail: facts.muted.value.length ? ["the model’s own"] : [],
          left: labels + gap,
          width: curves,
        },
        ...barHeads({ bias: null, scores: null, weights, width: weights.end }, facts),
      ]),
    ),
    effect(() => {
      const target = sizeCanvas(canvas, weights.end, heightOf(facts, rowHeight));
      const columns = { bias: null, scores: null, weights };
      paintBars({ target, rowHeight, palette: palette.value }, facts, columns);
    }),
  ];
  return { element, leftOut: [], dispose: disposeAll([...disposers, disposeSink, drawn.dispose]) };
}
