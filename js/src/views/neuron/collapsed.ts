/** The neuron view without vectors: queries, curves, keys, and softmax bars. */

import { computed } from "@preact/signals-core";
import { headMatrix } from "../../data/attention-matrix.ts";
import { el } from "../../parts/dom.ts";
import { tokenNames } from "../../parts/names.ts";
import { uniformTrack } from "../../parts/track.ts";
import { headColors } from "../../styles/head-colors.ts";
import { axesOf } from "../shared/axes.ts";
import { type Lines, lines } from "../shared/lines.ts";
import { paintBars } from "./bars.ts";
import { barHeaders, renderHeaders } from "./column-headers.ts";
import { type Columns, type ColumnsOptions, paintRows, sinkLabel, stand, upTo } from "./columns.ts";
import { MARKS, NUMBER_WIDTH } from "./layout.ts";
import { paintCurves } from "./paint.ts";
import { softmaxStrip } from "./softmax-strip.ts";

export function collapsedColumns(options: ColumnsOptions): Columns {
  const { scope, analysis, palette, labels, rows, queries, keys } = options;
  const rowHeight = rows.height;
  const strip = softmaxStrip(options);
  const width = options.width - strip.width;
  const gap = 6;
  const bars = Math.min(140, Math.round(width * 0.15));
  const available = width - 2 * labels - bars - NUMBER_WIDTH - 3 * gap;
  const curves = Math.max(120, Math.min(520, available));
  const keyLabels = labels + curves + 2 * gap;
  const left = keyLabels + labels + gap;
  const weights = { left, width: bars, end: left + bars + NUMBER_WIDTH };

  const allCurves = rows.long ? null : allLines(options, curves);
  const sink = sinkLabel(scope, analysis, keyLabels, labels, rowHeight);
  const canvas = el("canvas", { "aria-hidden": "true" });
  const names = upTo(keyLabels, queries);
  const between = allCurves ? [allCurves.element] : [];
  const stage = el("div", { class: "neurons" }, canvas, ...between, names, keys, sink);
  stage.append(...strip.elements);
  stage.style.minHeight = `${MARKS + rows.count * rowHeight}px`;
  for (const lines of between) stand(lines, labels + gap, curves);
  stand(queries, 0, labels);
  stand(keys, keyLabels, labels);
  const headers = el("div", { class: "column-headers" });
  const stripHeader = strip.place(weights.end);
  const element = el("div", { class: "neuron-view" }, headers, stage);
  scope.effect(() =>
    renderHeaders(headers, [
      {
        name: ["Attention"],
        detail: rows.long
          ? [`of ${tokenNames(analysis.data.stack.queries)[analysis.explanation.value.query]}`]
          : analysis.muted.value.length
            ? ["the model’s own"]
            : [],
        left: labels + gap,
        width: curves,
      },
      ...barHeaders({ bias: null, scores: null, weights, width: weights.end }, analysis),
      ...stripHeader,
    ]),
  );
  scope.effect(() => {
    const range = rows.range.value;
    const ends = [labels + gap, labels + gap + curves] as const;
    paintRows(canvas, weights.end, rows, (painter) => {
      const picture = { painter, rowHeight, range, palette: palette.value };
      paintBars(picture, analysis, { bias: null, scores: null, weights });
      // For a long text, only the curves of the explained query.
      if (!allCurves) paintCurves({ ...picture, curves: ends }, analysis);
    });
  });
  return {
    element,
    stage,
    leftOut: [],
  };
}

/** The lines of all queries, or of the focused one. */
function allLines(
  { scope, state, analysis, palette, rows }: ColumnsOptions,
  across: number,
): Lines {
  const { data, shown, head } = analysis;
  const focused = computed(() => {
    const query = state.focus.value.query ?? state.query.value;
    return { query: shown.queries.filter((at) => at === query), key: [] };
  });
  const matrix = computed(() => headMatrix(data, head.value));
  return lines(scope, {
    // The neuron view shows tokens, whether words are chosen or not.
    axes: axesOf(state, data.stack, false),
    tracks: {
      query: uniformTrack(shown.queries.length, rows.height),
      key: uniformTrack(shown.keys.length, rows.height),
    },
    across,
    horizontal: false,
    matrices: computed(() => [matrix.value]),
    colors: computed(() => [headColors(data.info.heads, palette.value.dark)[head.value]]),
    focused,
    strips: computed(() =>
      focused.value.query.length ? [matrix.value.row(focused.value.query[0])] : null,
    ),
  });
}
