/** The columns of the neuron view: the part that is common with and without vectors. */

import type { ReadonlySignal } from "@preact/signals-core";
import { explanationErrors } from "../../data/explanation.ts";
import type { LayerData } from "../../data/layer-data.ts";
import type { Shown } from "../../data/shown.ts";
import { paintCanvas } from "../../painting/canvas.ts";
import type { Paint } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import { number, weight } from "../../parts/text.ts";
import type { Range } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { State } from "../../state/state.ts";
import type { Palette } from "../../styles/palette.ts";
import { type ColumnHeader, headerRow } from "./column-headers.ts";
import { MARKS } from "./layout.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import type { Rows } from "./rows.ts";
import type { SoftmaxStrip } from "./softmax-strip.ts";
import type { Canvas } from "./strips.ts";

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
export interface ColumnsContent {
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
export function assembleColumns(options: ColumnsOptions, content: ColumnsContent) {
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
export function placeColumn(element: HTMLElement, left: number, width: number, top = MARKS): void {
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
