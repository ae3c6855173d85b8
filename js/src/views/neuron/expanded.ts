/** The neuron view with its vectors: from queries and keys, by their products, to the softmax. */

import { effect } from "@preact/signals-core";
import { disposeAll } from "../../parts/dispose.ts";
import { el, sizeCanvas } from "../../parts/dom.ts";
import { type Columns, type ColumnsOptions, heightOf, sinkLabel, stand, upTo } from "./columns.ts";
import { barHeads, drawHeads, vectorHeads } from "./heads.ts";
import { layoutFor } from "./layout.ts";
import { neuronList } from "./list.ts";
import { paintNeurons } from "./paint.ts";
import { bindPointer } from "./pointer.ts";
import { vectorsOf } from "./strips.ts";

export function expandedColumns(options: ColumnsOptions): Columns {
  const { state, facts, palette, labels, rowHeight, queries, keys } = options;
  const { program, dim } = facts.data.info;
  const biased = program !== null && (program.bias || program.relative);
  const layout = layoutFor(options.width, labels, dim as number, biased);

  const canvas = el("canvas", { "aria-hidden": "true" });
  const [list, disposeList] = neuronList(state, facts);
  const [sink, disposeSink] = sinkLabel(facts, layout.keyLabels, labels, rowHeight);
  const names = upTo(layout.keyLabels, queries);
  const stage = el("div", { class: "neurons" }, canvas, names, keys, sink, list);
  stand(queries, 0, labels);
  stand(keys, layout.keyLabels, labels);
  stand(list, layout.products, layout.strip);
  list.style.height = `${facts.shown.keys.length * rowHeight}px`;
  const heads = el("div", { class: "column-heads" });
  const element = el("div", { class: "neuron-view" }, heads, stage);
  element.style.width = `${layout.width}px`;
  bindPointer([canvas, list], state, facts, layout, rowHeight);

  const vectors = vectorsOf(facts, palette);
  const disposers = [
    effect(() => drawHeads(heads, [...vectorHeads(layout, facts), ...barHeads(layout, facts)])),
    effect(() => {
      const target = sizeCanvas(canvas, layout.width, heightOf(facts, rowHeight));
      paintNeurons({ target, layout, vectors, rowHeight, palette: palette.value }, facts);
    }),
  ];
  const leftOut = [layout.queries === null && "q", layout.keys === null && "k"].filter(
    (name) => name !== false,
  );
  return { element, leftOut, dispose: disposeAll([...disposers, disposeList, disposeSink]) };
}
