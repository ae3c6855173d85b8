/** The columns of the neuron view, with vectors and without. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { ATTENTION, readBy } from "../../data/manifest.ts";
import { lensMatrix } from "../../lenses/index.ts";
import { paintCanvas } from "../../painting/canvas.ts";
import type { Paint } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import { number, weight } from "../../parts/text.ts";
import { tokenColumn } from "../../parts/tokens.ts";
import { type Range, uniformTrack } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Side } from "../../state/state.ts";
import type { Palette } from "../../styles/palette.ts";
import { NO_ARCS } from "../shared/arcs.ts";
import { drawnMatrices } from "../shared/heads/difference.ts";
import { lines } from "../shared/lines.ts";
import { paintBars } from "./bars.ts";
import { barHeaders, type ColumnHeader, headerRow, vectorHeaders } from "./column-headers.ts";
import { layoutFor, MARKS, NUMBER_WIDTH } from "./layout.ts";
import { neuronList } from "./list.ts";
import { lockBy } from "./lock.ts";
import { paintCurves, paintNeurons } from "./paint.ts";
import { bindPointer } from "./pointer.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import type { Rows } from "./rows.ts";
import { softmaxStrip } from "./softmax-strip.ts";
import { type Canvas, stripImages } from "./strips.ts";

export interface ColumnsOptions {
  readonly scope: Scope;
  readonly analysis: QueryAnalysis;
  readonly rows: Rows;
  readonly palette: ReadonlySignal<Palette>;
  /** The available width; the columns may be wider. */
  readonly width: number;
  /** The width of the queries' or the keys' labels. */
  readonly labels: number;
}

/** The columns without space for their vectors, by name, and the element that holds all. */
interface Columns {
  readonly element: HTMLElement;
  readonly leftOut: readonly string[];
}

/** The content of the columns, which differs with and without vectors. */
interface ColumnsContent {
  readonly canvas: HTMLCanvasElement;
  /** Elements over the canvas, other than labels. */
  readonly overlays: readonly HTMLElement[];
  /** The left edge of the keys' labels. */
  readonly keyLabels: number;
  /** The width without the strip of a long text. */
  readonly width: number;
  headers(): readonly ColumnHeader[];
  paint(canvas: Canvas): void;
}

/** Put labels, overlays and the strip over the canvas, with column headers above. */
function assembleColumns(options: ColumnsOptions, content: ColumnsContent) {
  const { scope, analysis, palette, labels, rows } = options;
  const { canvas, keyLabels, width } = content;
  // The queries' labels scroll away at the end of their container, where the keys' labels stay.
  const [queries, keys] = [tokensOn(options, "query"), tokensOn(options, "key")];
  const queryLabels = el("div", { class: "query-names" }, queries);
  queryLabels.style.width = `${keyLabels}px`;
  const sink = sinkLabel(options, keyLabels);
  const stage = el("div", { class: "neurons" }, canvas, queryLabels, keys, sink);
  stage.append(...content.overlays);
  const all: Range = [0, rows.count];
  stage.style.setProperty("--down", `${heightOf(rows, all)}px`);
  placeColumn(queries, 0, labels);
  placeColumn(keys, keyLabels, labels);
  const strip = rows.long ? softmaxStrip(scope, analysis, rows, palette, width) : null;
  if (strip) stage.append(strip.element);
  const headers = headerRow(scope, () => [...content.headers(), ...(strip ? [strip.header] : [])]);
  /** Paints some rows, in the coordinates of all rows. */
  const rowsPaint =
    (range: Range): Paint =>
    (painter) => {
      painter.translate(0, -range[0] * rows.height);
      // For a short text, curves also lead to rows out of sight.
      const reached = rows.long ? range : all;
      const [rowHeight, colors] = [rows.height, palette.value];
      content.paint({ painter, analysis, rowHeight, range, reached, palette: colors });
    };
  scope.effect(() => {
    const range = rows.painted.value;
    canvas.style.marginTop = `${range[0] * rows.height}px`;
    const paint = rowsPaint(range);
    // The figure of a long text is what is in sight, that of a short one is all of it.
    const inFigures = rows.long ? paint : rowsPaint(all);
    paintCanvas(canvas, width, heightOf(rows, range), paint, inFigures);
  });
  rows.follow(scope, stage);
  return { element: el("div", { class: "neuron-view" }, headers, stage), stage };
}

/** The height of rows and of the space for marks above them. */
const heightOf = ({ height }: Rows, [first, end]: Range) => MARKS + (end - first) * height;

/** Place an element by its margin, so that `position: sticky` still works. */
function placeColumn(element: HTMLElement, left: number, width: number, top = MARKS): void {
  element.style.margin = `${top}px 0 0 ${left}px`;
  element.style.width = `${width}px`;
}

/** The labels of the queries, those that are explained in full colour, or of the keys. */
function tokensOn(options: ColumnsOptions, side: Side): HTMLElement {
  const { scope, analysis, palette, labels, rows } = options;
  const { data, axes, state, explanation, explanations } = analysis;
  const { shown } = axes[side];
  const emphasis = computed(() => {
    const explained = new Float32Array(data.numQueries);
    for (const { query } of explanations.value) explained[query] = 1;
    return explained;
  });
  return tokenColumn(scope, {
    side,
    tokens: side === "query" ? data.stack.queries : data.stack.keys,
    state,
    palette,
    rowHeight: rows.height,
    width: labels,
    positions: shown,
    emphasis: side === "query" ? emphasis : signal(null),
    ...rows.partOf(shown.length),
    toggle: (at, event) => lockBy(event, state, side, at, explanation.peek().query),
  });
}

/** The label of the sink's row, below the keys; hidden if the head has no sink. */
function sinkLabel({ scope, analysis, labels, rows }: ColumnsOptions, left: number): HTMLElement {
  const { state, data, head, shown, explanation } = analysis;
  const label = el("div", { class: "sink" }, "sink");
  placeColumn(label, left, labels, MARKS + shown.keys.length * rows.height);
  label.style.height = `${rows.height}px`;
  scope.effect(() => {
    const logit = data.sink(head.value);
    label.hidden = logit === null;
    // The pointer cannot be at a token and at this label.
    if (logit === null || (state.hover.value && label.title)) return;
    const { shown: now, errors } = explanation.value;
    const share = weight(now.sink ?? 0, errors.shown.sink);
    label.title = `The sink, a logit of ${number(logit)} that is no key’s, takes ${share} of the softmax`;
  });
  return label;
}

/** The neuron view with vectors: queries, keys, their products, and the bars up to the softmax. */
export function expandedColumns(options: ColumnsOptions): Columns {
  const { scope, analysis, palette, width, labels, rows } = options;
  const { program, dim } = analysis.data.info;
  const biased = program !== null && (program.bias || program.relative);
  const layout = layoutFor(width, labels, dim as number, biased);
  const canvas = el("canvas", { "aria-hidden": "true" });
  const list = neuronList(scope, analysis);
  placeColumn(list, layout.products, layout.strip);
  list.style.height = `${analysis.shown.keys.length * rows.height}px`;
  const images = stripImages(analysis, palette, rows);
  const { element, stage } = assembleColumns(options, {
    canvas,
    overlays: [list],
    keyLabels: layout.keyLabels,
    width: layout.width,
    headers: () => [...vectorHeaders(layout, analysis), ...barHeaders(layout, analysis)],
    paint: (painted) => paintNeurons({ ...painted, layout, images }),
  });
  element.style.width = `${layout.width + rows.strip}px`;
  bindPointer(stage, [canvas, list], analysis, layout, rows.height);
  const without = [layout.queries === null ? "q" : "", layout.keys === null ? "k" : ""];
  return { element, leftOut: without.filter(Boolean) };
}

/** The neuron view without vectors: queries, curves, keys, and softmax bars. */
export function collapsedColumns(options: ColumnsOptions): Columns {
  const { analysis, width, labels, rows } = options;
  const { data, axes, explanation, muted } = analysis;
  const gap = 6;
  const bars = Math.min(140, Math.round(width * 0.15));
  const available = width - 2 * labels - bars - NUMBER_WIDTH - 3 * gap;
  const curves = Math.max(120, Math.min(520, available));
  const from = labels + gap;
  const keyLabels = from + curves + gap;
  const left = keyLabels + labels + gap;
  const columns = {
    bias: null,
    scores: null,
    weights: { left, width: bars, end: left + bars + NUMBER_WIDTH },
    width: left + bars + NUMBER_WIDTH,
  };

  // For a long text, only the curves of the explained query.
  const overlays = rows.long ? [] : [allLines(options, curves)];
  for (const all of overlays) placeColumn(all, from, curves);
  const detail = () => {
    if (rows.long) return [`of ${axes.query.names[explanation.value.query]}`];
    return muted.value.length ? ["the model’s own"] : [];
  };
  const attention = {
    name: [data.info.signed ? "Coefficients" : "Attention"],
    left: from,
    width: curves,
  };
  const { element } = assembleColumns(options, {
    canvas: el("canvas", { "aria-hidden": "true" }),
    overlays,
    keyLabels,
    width: columns.width,
    headers: () => [{ ...attention, detail: detail() }, ...barHeaders(columns, analysis)],
    paint(painted) {
      paintBars(painted, columns);
      if (rows.long) paintCurves(painted, [from, from + curves]);
    },
  });
  return { element, leftOut: [] };
}

/** The lines of all queries, or of the focused one. */
function allLines({ scope, analysis, palette, rows }: ColumnsOptions, across: number): HTMLElement {
  const { state, data, axes, shown, head } = analysis;
  const focused = computed(() => {
    const query = state.focus.value.query ?? state.query.value;
    return { query: shown.queries.filter((at) => at === query), key: [] };
  });
  const lens = readBy(ATTENTION, data.stack);
  const matrices = computed(() =>
    [lensMatrix(lens, data, head.value)].filter((matrix) => matrix !== null),
  );
  const { matrices: parts, colors } = drawnMatrices(matrices, data.info.heads, palette);
  const drawn = lines(scope, {
    axes,
    tracks: {
      query: uniformTrack(shown.queries.length, rows.height),
      key: uniformTrack(shown.keys.length, rows.height),
    },
    across,
    horizontal: false,
    matrices: parts,
    colors,
    focused,
    series: computed(() => {
      const [from] = focused.value.query;
      if (from === undefined) return null;
      return parts.value.map((matrix, at) => {
        const weights = matrix.row(from);
        return { color: colors.value[at], weights, parts: [{ from, weights }] };
      });
    }),
    arcs: NO_ARCS,
    palette,
  });
  return drawn.element;
}
