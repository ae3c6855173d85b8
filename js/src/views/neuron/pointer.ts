/** The pointer on the picture of the neuron view, where neurons may be too narrow to be hit. */

import { products, strongest } from "../../data/neurons.ts";
import { perFrame } from "../../scheduling/frame.ts";
import { pointAt, type Side, within } from "../../state/state.ts";
import { type Layout, MARKS } from "./layout.ts";
import { lockBy } from "./lock.ts";
import type { QueryAnalysis } from "./query-analysis.ts";

/**
 * @param stage holds all rows
 * @param picture the canvas, and what covers it other than labels
 */
export function bindPointer(
  stage: HTMLElement,
  picture: readonly HTMLElement[],
  analysis: QueryAnalysis,
  layout: Layout,
  rowHeight: number,
): void {
  const { state } = analysis;
  const [canvas] = picture;
  /** The token and the neuron under the pointer; null for a row without a token, or beside all neurons. */
  const under = (event: MouseEvent) => {
    const box = stage.getBoundingClientRect();
    const x = event.clientX - box.left;
    const row = Math.floor((event.clientY - box.top - MARKS) / rowHeight);
    const side: Side = x < layout.keyLabels ? "query" : "key";
    const at = (side === "query" ? analysis.shown.queries : analysis.shown.keys)[row] ?? null;
    const left = [layout.queries, layout.keys, layout.products].find(
      (left) => left !== null && x >= left && x < left + layout.strip,
    );
    if (left === undefined || left === null) return { side, at, neuron: null };
    const key = side === "key" ? at : null;
    const place = placeNear(analysis, x - left, layout.strip, key);
    return { side, at, neuron: analysis.order.peek()[place] };
  };
  for (const element of picture) {
    const point = perFrame(({ side, at, neuron }: ReturnType<typeof under>) => {
      pointAt(state, at === null ? null : { query: null, key: null, [side]: at });
      analysis.neuron.value = neuron;
    });
    element.addEventListener("pointermove", (event) => point(under(event)));
    element.addEventListener("pointerleave", () => {
      point.cancel();
      state.hover.value = null;
      analysis.neuron.value = null;
    });
  }
  canvas.addEventListener("click", (event) => {
    const { side, at } = under(event);
    const { query } = analysis.explanation.peek();
    if (at !== null) lockBy(event, state, side, at, query);
  });
}

/** The width from which a cell can be hit, in CSS pixels. */
const EASY = 5;
/** The distance from the pointer within which the strongest of narrower cells is meant. */
const REACH = 4;

/**
 * The place in the order of the neurons.
 *
 * @param x the distance from the left edge of a strip that is `width` wide
 * @param key whose products with the query tell which cell is the strongest; null for none
 */
export function placeNear(
  { data, head, order, explanation }: QueryAnalysis,
  x: number,
  width: number,
  key: number | null,
): number {
  const neurons = order.peek();
  const cell = width / neurons.length;
  const placeAt = (x: number) => within(Math.floor(x / cell), neurons.length);
  const q = data.query(head.peek(), explanation.peek().query);
  const k = key === null ? null : data.key(head.peek(), key);
  if (cell >= EASY || !q || !k) return placeAt(x);
  const near = neurons.slice(placeAt(x - REACH), placeAt(x + REACH) + 1);
  return neurons.indexOf(strongest([neurons[placeAt(x)], ...near], products(q, k)));
}
