/** The columns of the neuron view: the part that is common with and without vectors. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { LayerData } from "../../data/layer-data.ts";
import { paintCanvas } from "../../painting/canvas.ts";
import type { Paint } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import { number } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Shown } from "../../state/shown.ts";
import type { State } from "../../state/state.ts";
import type { Palette } from "../../styles/palette.ts";
import { type ColumnHeader, renderHeaders } from "./column-headers.ts";
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
  const { scope, analysis, palette, labels, rows, queries, keys } = options;
  const { canvas, strip, keyLabels, width } = content;
  const sink = sinkLabel(scope, analysis, keyLabels, labels, rows.height);
  // The queries' labels scroll away at the end of their container, where the keys' labels stay.
  const queryLabels = el("div", { class: "query-names" }, queries);
  queryLabels.style.width = `${keyLabels}px`;
  const stage = el("div", { class: "neurons" }, canvas, queryLabels, keys, sink);
  stage.append(...content.overlays, ...strip.elements);
  stage.style.minHeight = `${MARKS + rows.count * rows.height}px`;
  placeColumn(queries, 0, labels);
  placeColumn(keys, keyLabels, labels);
  const headers = el("div", { class: "column-headers" });
  const stripHeader = strip.place(width);
  scope.effect(() => renderHeaders(headers, [...content.headers(), ...stripHeader]));
  scope.effect(() => {
    const range = rows.range.value;
    paintRows(canvas, width, rows, (painter) =>
      content.paint({ painter, rowHeight: rows.height, range, palette: palette.value }),
    );
  });
  return { element: el("div", { class: "neuron-view" }, headers, stage), stage };
}

/** Paint the rendered rows, in the coordinates of all rows. */
function paintRows(canvas: HTMLCanvasElement, width: number, rows: Rows, paint: Paint): void {
  const [first, end] = rows.range.value;
  const above = first * rows.height;
  canvas.style.marginTop = `${above}px`;
  paintCanvas(canvas, width, MARKS + (end - first) * rows.height, (painter, ratio) => {
    painter.translate(0, -above);
    paint(painter, ratio);
  });
}

/** Place an element by its margin, so that `position: sticky` still works. */
export function placeColumn(element: HTMLElement, left: number, width: number, top = MARKS): void {
  element.style.margin = `${top}px 0 0 ${left}px`;
  element.style.width = `${width}px`;
}

/** The label of the sink's row, below the keys; hidden if the head has no sink. */
function sinkLabel(
  scope: Scope,
  { data, head, shown, explanation }: QueryAnalysis,
  left: number,
  width: number,
  rowHeight: number,
): HTMLElement {
  const label = el("div", { class: "sink" }, "sink");
  placeColumn(label, left, width, MARKS + shown.keys.length * rowHeight);
  label.style.height = `${rowHeight}px`;
  scope.effect(() => {
    const logit = data.sink(head.value);
    label.hidden = logit === null;
    if (logit === null) return;
    const share = explanation.value.shown.sink ?? 0;
    label.title = `The sink, a logit of ${number(logit)} that is no key’s, takes ${share.toFixed(3)} of the softmax`;
  });
  return label;
}
