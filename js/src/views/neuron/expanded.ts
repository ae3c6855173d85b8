/** The neuron view with vectors: queries, keys, their products, and the bars up to the softmax. */

import { el } from "../../parts/dom.ts";
import { barHeaders, renderHeaders, vectorHeaders } from "./column-headers.ts";
import { type Columns, type ColumnsOptions, paintRows, sinkLabel, stand, upTo } from "./columns.ts";
import { layoutFor, MARKS } from "./layout.ts";
import { neuronList } from "./list.ts";
import { paintNeurons } from "./paint.ts";
import { bindPointer } from "./pointer.ts";
import { softmaxStrip } from "./softmax-strip.ts";
import { vectorsOf } from "./strips.ts";

export function expandedColumns(options: ColumnsOptions): Columns {
  const { scope, state, analysis, palette, labels, rows, queries, keys } = options;
  const rowHeight = rows.height;
  const { program, dim } = analysis.data.info;
  const biased = program !== null && (program.bias || program.relative);
  const strip = softmaxStrip(options);
  const layout = layoutFor(options.width - strip.width, labels, dim as number, biased);

  const canvas = el("canvas", { "aria-hidden": "true" });
  const list = neuronList(scope, state, analysis);
  const sink = sinkLabel(scope, analysis, layout.keyLabels, labels, rowHeight);
  const names = upTo(layout.keyLabels, queries);
  const stage = el("div", { class: "neurons" }, canvas, names, keys, sink, list, ...strip.elements);
  stand(queries, 0, labels);
  stand(keys, layout.keyLabels, labels);
  stand(list, layout.products, layout.strip);
  list.style.height = `${analysis.shown.keys.length * rowHeight}px`;
  const headers = el("div", { class: "column-headers" });
  const stripHeader = strip.place(layout.width);
  const element = el("div", { class: "neuron-view" }, headers, stage);
  element.style.width = `${layout.width + strip.width}px`;
  stage.style.minHeight = `${MARKS + rows.count * rowHeight}px`;
  bindPointer(stage, [canvas, list], state, analysis, layout, rowHeight);

  const vectors = vectorsOf(analysis, palette, rows.range);
  scope.effect(() =>
    renderHeaders(headers, [
      ...vectorHeaders(layout, analysis),
      ...barHeaders(layout, analysis),
      ...stripHeader,
    ]),
  );
  scope.effect(() => {
    const range = rows.range.value;
    paintRows(canvas, layout.width, rows, (painter) =>
      paintNeurons(
        { painter, layout, vectors, rowHeight, range, palette: palette.value },
        analysis,
      ),
    );
  });
  const leftOut = [layout.queries === null && "q", layout.keys === null && "k"].filter(
    (name) => name !== false,
  );
  return {
    element,
    stage,
    leftOut,
  };
}
