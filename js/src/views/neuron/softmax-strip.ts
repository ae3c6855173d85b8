/** A strip beside the rows of a long text, with the softmax over all keys. */

import type { ReadonlySignal } from "@preact/signals-core";
import { strongest } from "../../data/neurons.ts";
import { paintCanvas, strokeBox } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import { perFrame } from "../../scheduling/frame.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { pointAt } from "../../state/state.ts";
import type { Palette } from "../../styles/palette.ts";
import { bindStripPointer } from "../shared/minimap.ts";
import type { ColumnHeader } from "./column-headers.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import { type Rows, STRIP } from "./rows.ts";

const GAP = 10;
const WIDTH = STRIP - GAP;

/** The least height of a mark, in CSS pixels. */
const TALL = 2;
/** The width of the triangles left of the strip. */
const MARK = 6;
/** The least height of the bracket. */
const LOWEST = 5;
/** The distance from the pointer, in CSS pixels, in which the strongest key counts as hovered. */
const NEAR = 2;

/**
 * The strip and its column header.
 *
 * @param columns the width of the columns, right of which it stands
 */
export function softmaxStrip(
  scope: Scope,
  analysis: QueryAnalysis,
  rows: Rows,
  palette: ReadonlySignal<Palette>,
  columns: number,
): { readonly element: HTMLElement; readonly header: ColumnHeader } {
  const { state, data, shown, places } = analysis;
  const canvas = el("canvas");
  const count = `${shown.keys.length} of ${data.stack.keys.labels.length} keys`;
  const title = `${data.info.signed ? "Coefficients" : "Softmax"} of ${count}, the largest wherever several share a place; click to go there`;
  const attributes = { class: "softmax-strip", "aria-hidden": "true", title };
  const element = el("div", attributes, canvas);
  const left = columns + GAP;
  element.style.marginLeft = `${left}px`;
  scope.effect(() => {
    const height = Math.floor(rows.visibleHeight.value);
    paintCanvas(canvas, WIDTH, height, (painter) => paintStrip(painter, height));
  });

  function paintStrip(painter: Painter, height: number): void {
    const { border, text, accent, positive, negative } = palette.value;
    const per = height / rows.count;
    const width = WIDTH - MARK;
    strokeBox(painter, [MARK, 0, width, height], border, { out: -0.5 });
    const { shown: now, peak } = analysis.explanation.value;
    const largest = pooled(now.weights, Math.ceil(height / TALL));
    largest.forEach((weight, at) => {
      // The square root, as in the matrix, since most weights are small.
      painter.globalAlpha = Math.min(1, Math.sqrt(Math.abs(weight) / peak));
      painter.fillStyle = weight < 0 ? negative : positive;
      if (weight) painter.fillRect(MARK, at * TALL, width, TALL);
    });
    painter.globalAlpha = 1;
    const [first, end] = rows.sight.value;
    const part = Math.max(LOWEST, (end - first) * per);
    const top = Math.min(first * per, height - part);
    strokeBox(painter, [MARK + 0.75, top, width - 1.5, part], accent, { line: 1.5 });
    /** A triangle that points at a row from the left. */
    const mark = (color: string, row: number) => {
      if (row < 0) return;
      const y = Math.max(LOWEST, Math.min(height - LOWEST, (row + 0.5) * per));
      painter.fillStyle = color;
      painter.beginPath();
      painter.moveTo(0, y - 4);
      painter.lineTo(MARK, y);
      painter.lineTo(0, y + 4);
      painter.fill();
    };
    mark(text, places.query[analysis.explanation.value.query]);
    const { value: key } = analysis.focusKey;
    if (key !== null) mark(accent, places.key[key]);
  }

  function pooled(weights: Float32Array, count: number): Float32Array {
    const largest = new Float32Array(count);
    shown.keys.forEach((key, row) => {
      const at = Math.floor((row * count) / rows.count);
      if (Math.abs(weights[key]) > Math.abs(largest[at])) largest[at] = weights[key];
    });
    return largest;
  }

  const rowAt = (y: number) => Math.floor((y / canvas.getBoundingClientRect().height) * rows.count);
  const point = perFrame((y: number) => {
    const { weights } = analysis.explanation.peek().shown;
    // The strongest of the keys that share a pixel.
    const near = shown.keys.slice(Math.max(0, rowAt(y - NEAR)), rowAt(y + NEAR) + 1);
    if (!near.length) return;
    pointAt(state, { query: null, key: strongest(near, weights) });
  });
  scope.onEnd(point.cancel);
  bindStripPointer(
    canvas,
    (_, y, pressed) => {
      if (pressed) rows.centre(rowAt(y));
      point(y);
    },
    () => {
      point.cancel();
      state.hover.value = null;
    },
  );
  return { element, header: { name: ["All"], detail: ["keys"], title, width: WIDTH, left } };
}
