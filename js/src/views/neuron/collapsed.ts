/** The neuron view without vectors: queries, curves, keys, and softmax bars. */

import { computed } from "@preact/signals-core";
import { headMatrix } from "../../data/attention-matrix.ts";
import { el } from "../../parts/dom.ts";
import { tokenNames } from "../../parts/text.ts";
import { uniformTrack } from "../../parts/track.ts";
import { headColors } from "../../styles/head-colors.ts";
import { NO_ARCS } from "../shared/arcs.ts";
import { axesOf } from "../shared/axes.ts";
import { type Lines, lines } from "../shared/lines.ts";
import { paintBars } from "./bars.ts";
import { barHeaders } from "./column-headers.ts";
import { assembleColumns, type Columns, type ColumnsOptions, placeColumn } from "./columns.ts";
import { NUMBER_WIDTH } from "./layout.ts";
import { paintCurves } from "./paint.ts";
import { softmaxStrip } from "./softmax-strip.ts";

export function collapsedColumns(options: ColumnsOptions): Columns {
  const { scope, state, analysis, palette, labels, rows } = options;
  const strip = softmaxStrip(scope, state, analysis, rows, palette);
  const width = options.width - strip.width;
  const gap = 6;
  const bars = Math.min(140, Math.round(width * 0.15));
  const available = width - 2 * labels - bars - NUMBER_WIDTH - 3 * gap;
  const curves = Math.max(120, Math.min(520, available));
  const keyLabels = labels + curves + 2 * gap;
  const left = keyLabels + labels + gap;
  const weights = { left, width: bars, end: left + bars + NUMBER_WIDTH };

  const ends = [labels + gap, labels + gap + curves] as const;

  const allCurves = rows.long ? null : allLines(options, curves).element;
  if (allCurves) placeColumn(allCurves, labels + gap, curves);
  const detail = () => {
    const { data, explanation, muted } = analysis;
    if (rows.long) return [`of ${tokenNames(data.stack.queries)[explanation.value.query]}`];
    return muted.value.length ? ["the model’s own"] : [];
  };
  const columns = { bias: null, scores: null, weights };
  const assembled = assembleColumns(options, {
    canvas: el("canvas", { "aria-hidden": "true" }),
    overlays: allCurves ? [allCurves] : [],
    strip,
    keyLabels,
    width: weights.end,
    headers: () => [
      {
        name: ["Attention"],
        detail: detail(),
        ...(rows.long ? { hovered: [] } : {}),
        left: labels + gap,
        width: curves,
      },
      ...barHeaders({ ...columns, width: weights.end }, analysis),
    ],
    paint(painted) {
      paintBars(painted, analysis, columns);
      // For a long text, only the curves of the explained query.
      if (!allCurves) paintCurves({ ...painted, curves: ends }, analysis);
    },
  });
  return { ...assembled, leftOut: [] };
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
  const color = computed(() => headColors(data.info.heads, palette.value.dark)[head.value]);
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
    colors: computed(() => [color.value]),
    focused,
    series: computed(() => {
      const [from] = focused.value.query;
      if (from === undefined) return null;
      const weights = matrix.value.row(from);
      return [{ color: color.value, weights, parts: [{ from, weights }] }];
    }),
    arcs: NO_ARCS,
    palette,
  });
}
