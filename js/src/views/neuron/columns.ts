/** The columns of the neuron view, with vectors and without. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { headMatrix } from "../../data/attention-matrix.ts";
import { explanationErrors } from "../../data/explanation.ts";
import type { LayerData } from "../../data/layer-data.ts";
import type { Shown } from "../../data/shown.ts";
import { paintCanvas } from "../../painting/canvas.ts";
import type { Paint } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import { number, tokenNames, weight } from "../../parts/text.ts";
import { type Range, uniformTrack } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { State } from "../../state/state.ts";
import { headColors } from "../../styles/head-colors.ts";
import type { Palette } from "../../styles/palette.ts";
import { NO_ARCS } from "../shared/arcs.ts";
import { axesOf } from "../shared/axes.ts";
import { type Lines, lines } from "../shared/lines.ts";
import { paintBars } from "./bars.ts";
import { barHeaders, type ColumnHeader, headerRow, vectorHeaders } from "./column-headers.ts";
import { layoutFor, MARKS, NUMBER_WIDTH } from "./layout.ts";
import { neuronList } from "./list.ts";
import { paintCurves, paintNeurons } from "./paint.ts";
import { bindPointer } from "./pointer.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import type { Rows } from "./rows.ts";
import { type SoftmaxStrip, softmaxStrip } from "./softmax-strip.ts";
import { type Canvas, stripImages } from "./strips.ts";

export interface Columns {
  readonly element: HTMLElement;
  /** The element that holds the rows. */
  readonly stage: HTMLElement;
  /** The vectors without space, by name. */
  readonly leftOut: readonly string[];
}

export interface ColumnsOptions {
  readonly scope: Scope;
  readonly state: State;
  readonly analysis: QueryAnalysis;
  readonly palette: ReadonlySignal<Palette>;
  /** The available width; the columns may be wider. */
  readonly width: number;
  /** The width of the queries' or the keys' labels. */
  readonly labels: number;
  readonly rows: Rows;
  readonly queries: HTMLElement;
  readonly keys: HTMLElement;
}

/** The number of rows, with one for the sink if the layer has sinks. */
export function rowCount({ info }: LayerData, { queries, keys }: Shown): number {
  return Math.max(queries.length, keys.length + (info.program?.sinks ? 1 : 0));
}

/** The content of the columns, which differs with and without vectors. */
interface ColumnsContent {
  readonly canvas: HTMLCanvasElement;
  /** Elements over the canvas, other than labels. */
  readonly overlays: readonly HTMLElement[];
  readonly strip: SoftmaxStrip;
  /** The left edge of the keys' labels. */
  readonly keyLabels: number;
  /** The width without the strip. */
  readonly width: number;
  headers(): readonly ColumnHeader[];
  paint(canvas: Canvas): void;
}

/** Put labels, overlays and the strip over the canvas, with column headers above. */
function assembleColumns(options: ColumnsOptions, content: ColumnsContent) {
  const { scope, state, palette, labels, rows, queries, keys } = options;
  const { canvas, strip, keyLabels, width } = content;
  const sink = sinkLabel(options, keyLabels);
  // The queries' labels scroll away at the end of their container, where the keys' labels stay.
  const queryLabels = el("div", { class: "query-names" }, queries);
  queryLabels.style.width = `${keyLabels}px`;
  const stage = el("div", { class: "neurons" }, canvas, queryLabels, keys, sink);
  stage.append(...content.overlays, ...strip.elements);
  const all: Range = [0, rows.count];
  stage.style.setProperty("--down", `${heightOf(rows, all)}px`);
  placeColumn(queries, 0, labels);
  placeColumn(keys, keyLabels, labels);
  const stripHeader = strip.place(width);
  const headers = headerRow(scope, state, () => [...content.headers(), ...stripHeader]);
  /** Paints some rows, in the coordinates of all rows. */
  const rowsPaint =
    (range: Range): Paint =>
    (painter) => {
      painter.translate(0, -range[0] * rows.height);
      // For a short text, curves also lead to rows out of sight.
      const reached = rows.long ? range : all;
      content.paint({ painter, rowHeight: rows.height, range, reached, palette: palette.value });
    };
  scope.effect(() => {
    const range = rows.painted.value;
    canvas.style.marginTop = `${range[0] * rows.height}px`;
    const paint = rowsPaint(range);
    // The figure of a long text is what is in sight, that of a short one is all of it.
    const inFigures = rows.long ? paint : rowsPaint(all);
    paintCanvas(canvas, width, heightOf(rows, range), paint, inFigures);
  });
  return { element: el("div", { class: "neuron-view" }, headers, stage), stage };
}

/** The height of rows and of the space for marks above them. */
const heightOf = ({ height }: Rows, [first, end]: Range) => MARKS + (end - first) * height;

/** Place an element by its margin, so that `position: sticky` still works. */
function placeColumn(element: HTMLElement, left: number, width: number, top = MARKS): void {
  element.style.margin = `${top}px 0 0 ${left}px`;
  element.style.width = `${width}px`;
}

/** The label of the sink's row, below the keys; hidden if the head has no sink. */
function sinkLabel(
  { scope, state, analysis, labels, rows }: ColumnsOptions,
  left: number,
): HTMLElement {
  const { data, head, shown, explanation } = analysis;
  const label = el("div", { class: "sink" }, "sink");
  placeColumn(label, left, labels, MARKS + shown.keys.length * rows.height);
  label.style.height = `${rows.height}px`;
  scope.effect(() => {
    const logit = data.sink(head.value);
    label.hidden = logit === null;
    // The pointer cannot be at a token and at this label.
    if (logit === null || (state.hover.value && label.title)) return;
    const { query, original, shown: now } = explanation.value;
    const errors = explanationErrors(data, head.value, query, original !== now);
    const share = weight(now.sink ?? 0, errors.sink);
    label.title = `The sink, a logit of ${number(logit)} that is no key’s, takes ${share} of the softmax`;
  });
  return label;
}

/** The neuron view with vectors: queries, keys, their products, and the bars up to the softmax. */
export function expandedColumns(options: ColumnsOptions): Columns {
  const { scope, state, analysis, palette, labels, rows } = options;
  const { program, dim } = analysis.data.info;
  const biased = program !== null && (program.bias || program.relative);
  const strip = softmaxStrip(scope, state, analysis, rows, palette);
  const layout = layoutFor(options.width - strip.width, labels, dim as number, biased);

  const canvas = el("canvas", { "aria-hidden": "true" });
  const list = neuronList(scope, state, analysis);
  placeColumn(list, layout.products, layout.strip);
  list.style.height = `${analysis.shown.keys.length * rows.height}px`;
  const images = stripImages(analysis, palette, rows.height, rows.painted);
  const { element, stage } = assembleColumns(options, {
    canvas,
    overlays: [list],
    strip,
    keyLabels: layout.keyLabels,
    width: layout.width,
    headers: () => [...vectorHeaders(layout, analysis), ...barHeaders(layout, analysis)],
    paint: (painted) => paintNeurons({ ...painted, layout, images }, analysis),
  });
  element.style.width = `${layout.width + strip.width}px`;
  bindPointer(stage, [canvas, list], state, analysis, layout, rows.height);
  const leftOut = [layout.queries === null && "q", layout.keys === null && "k"].filter(
    (name) => name !== false,
  );
  return { element, stage, leftOut };
}

/** The neuron view without vectors: queries, curves, keys, and softmax bars. */
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
