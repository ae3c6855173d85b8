/** The columns of the neuron view, with labels, overlays and the strip over the picture. */

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
import { columnHeaders, headerRow } from "./column-headers.ts";
import { layoutFor, layoutWithoutVectors, MARKS } from "./layout.ts";
import { neuronList } from "./list.ts";
import { lockBy } from "./lock.ts";
import { paintNeurons } from "./paint.ts";
import { bindPointer } from "./pointer.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import type { Rows } from "./rows.ts";
import { softmaxStrip } from "./softmax-strip.ts";
import { stripImages } from "./strips.ts";

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

/**
 * The neuron view with vectors: queries, keys, their products, and the bars up to the softmax. Or
 * without: queries, curves, keys, and the bars of the softmax.
 */
export function neuronColumns(options: ColumnsOptions, isExpanded: boolean) {
  const { scope, analysis, palette, width, labels, rows } = options;
  const { program, dim } = analysis.data.info;
  const biased = program !== null && (program.bias || program.relative);
  const layout = isExpanded
    ? layoutFor(width, labels, dim as number, biased)
    : layoutWithoutVectors(width, labels);
  const { keyLabels } = layout;
  const canvas = el("canvas", { "aria-hidden": "true" });
  const images = stripImages(analysis, palette, rows);
  // The queries' labels scroll away at the end of their container, where the keys' labels stay.
  const [queries, keys] = [tokensOn(options, "query"), tokensOn(options, "key")];
  const queryLabels = el("div", { class: "query-names" }, queries);
  queryLabels.style.width = `${keyLabels}px`;
  placeColumn(queries, 0, labels);
  placeColumn(keys, keyLabels, labels);
  const stage = el("div", { class: "neurons" }, canvas, queryLabels, keys);
  stage.append(sinkLabel(options, keyLabels));
  const all: Range = [0, rows.count];
  stage.style.setProperty("--down", `${heightOf(rows, all)}px`);
  if (layout.products !== null) {
    const list = neuronList(scope, analysis);
    placeColumn(list, layout.products, layout.strip);
    list.style.height = `${analysis.shown.keys.length * rows.height}px`;
    stage.append(list);
    bindPointer(stage, [canvas, list], analysis, layout, rows.height);
  } else if (!rows.long) {
    const [left, right] = layout.curves;
    const lines = allLines(options, right - left);
    placeColumn(lines, left, right - left);
    stage.append(lines);
  }
  const strip = rows.long ? softmaxStrip(scope, analysis, rows, palette, layout.width) : null;
  if (strip) stage.append(strip.element);
  const headers = headerRow(scope, () => [
    ...columnHeaders(layout, analysis, rows.long),
    ...(strip ? [strip.header] : []),
  ]);
  /** Paints some rows, in the coordinates of all rows. */
  const rowsPaint =
    (range: Range): Paint =>
    (painter) => {
      painter.translate(0, -range[0] * rows.height);
      // For a short text, curves also lead to rows out of sight.
      const reached = rows.long ? range : all;
      const [rowHeight, colors] = [rows.height, palette.value];
      const painted = { painter, analysis, layout, images, rowHeight, range, reached };
      // Without vectors, those of a short text are all lines.
      paintNeurons({ ...painted, palette: colors }, isExpanded || rows.long);
    };
  scope.effect(() => {
    const range = rows.painted.value;
    canvas.style.marginTop = `${range[0] * rows.height}px`;
    const paint = rowsPaint(range);
    // The figure of a long text is what is in sight, that of a short one is all of it.
    const inFigures = rows.long ? paint : rowsPaint(all);
    paintCanvas(canvas, layout.width, heightOf(rows, range), paint, inFigures);
  });
  rows.follow(scope, stage);
  const element = el("div", { class: "neuron-view" }, headers, stage);
  if (isExpanded) element.style.width = `${layout.width + rows.strip}px`;
  const without = [layout.queries === null ? "q" : "", layout.keys === null ? "k" : ""];
  /** The vectors without space, by name. */
  const leftOut = isExpanded ? without.filter(Boolean) : [];
  return { element, leftOut };
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
