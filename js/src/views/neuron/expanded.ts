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
  const { scope, state, facts, palette, labels, rows, queries, keys } = options;
  const rowHeight = rows.height;
  const { program, dim } = facts.data.info;
  const biased = program !== null && (program.bias || program.relative);
  const overview = softmaxStrip(options);
  const layout = layoutFor(options.width - overview.room, labels, dim as number, biased);

  const canvas = el("canvas", { "aria-hidden": "true" });
  const list = neuronList(scope, state, facts);
  const sink = sinkLabel(scope, facts, layout.keyLabels, labels, rowHeight);
  const names = upTo(layout.keyLabels, queries);
  const stage = el(
    "div",
    { class: "neurons" },
    canvas,
    names,
    keys,
    sink,
    list,
    ...overview.elements,
  );
  stand(queries, 0, labels);
  stand(keys, layout.keyLabels, labels);
  stand(list, layout.products, layout.strip);
  list.style.height = `${facts.shown.keys.length * rowHeight}px`;
  const heads = el("div", { class: "column-headers" });
  const beside = overview.place(layout.width);
  const element = el("div", { class: "neuron-view" }, heads, stage);
  element.style.width = `${layout.width + overview.room}px`;
  stage.style.minHeight = `${MARKS + rows.count * rowHeight}px`;
  bindPointer(stage, [canvas, list], state, facts, layout, rowHeight);

  const vectors = vectorsOf(facts, palette, rows.range);
  scope.effect(() =>
    renderHeaders(heads, [
      ...vectorHeaders(layout, facts),
      ...barHeaders(layout, facts),
      ...beside,
    ]),
  );
  scope.effect(() => {
    const range = rows.range.value;
    paintRows(canvas, layout.width, rows, (painter) =>
      paintNeurons({ painter, layout, vectors, rowHeight, range, palette: palette.value }, facts),
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
