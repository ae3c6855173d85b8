/** The neuron view with vectors: queries, keys, their products, and the bars up to the softmax. */

import { el } from "../../parts/dom.ts";
import { barHeaders, vectorHeaders } from "./column-headers.ts";
import { assembleColumns, type Columns, type ColumnsOptions, placeColumn } from "./columns.ts";
import { layoutFor } from "./layout.ts";
import { neuronList } from "./list.ts";
import { paintNeurons } from "./paint.ts";
import { bindPointer } from "./pointer.ts";
import { softmaxStrip } from "./softmax-strip.ts";
import { stripImages } from "./strips.ts";

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
