/** The neuron that the pointer is at, where cells are too narrow to be hit. */

import { products } from "../../data/neurons.ts";
import type { QueryAnalysis } from "./query-analysis.ts";

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
  const placeAt = (x: number) => Math.min(Math.max(Math.floor(x / cell), 0), neurons.length - 1);
  const q = data.query(head.peek(), explanation.peek().query);
  const k = key === null ? null : data.key(head.peek(), key);
  if (cell >= EASY || !q || !k) return placeAt(x);
  const product = products(q, k);
  let best = placeAt(x);
  for (let place = placeAt(x - REACH); place <= placeAt(x + REACH); place++) {
    if (Math.abs(product[neurons[place]]) > Math.abs(product[neurons[best]])) best = place;
  }
  return best;
}
