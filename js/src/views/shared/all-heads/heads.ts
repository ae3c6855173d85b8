/** The heads of a stack: in the order of a grid, and by a metric. */

import {
  type Head,
  type LayerInfo,
  type Metric,
  metricValue,
  type StackInfo,
} from "../../../data/manifest.ts";
import { PAIR } from "../../../state/choices.ts";
import type { State } from "../../../state/state.ts";

/** A layer with its heads from left to right. */
export interface Row {
  readonly layer: LayerInfo;
  readonly heads: readonly number[];
}

/**
 * The rows of the grid. Layers without included heads are left out; if no layer is left, all heads
 * are included.
 *
 * @param sort null for the order of the model.
 * @param layers the numbers of those that are included, and `included` those of heads; null for all
 */
export function rowsOf(
  stack: StackInfo,
  sort: Metric | null,
  layers: readonly number[] | null = null,
  included: readonly number[] | null = null,
): readonly Row[] {
  const rows = stack.layers
    .filter(({ number }) => layers?.includes(number) ?? true)
    .map((layer) => {
      const all = [...Array(layer.heads).keys()].filter((head) => included?.includes(head) ?? true);
      const heads = all.map((head) => ({ layer, head }));
      return { layer, heads: sort ? ranked(heads, sort).map(({ head }) => head) : all };
    })
    .filter(({ heads }) => heads.length);
  return rows.length ? rows : rowsOf(stack, sort);
}

/** The heads from the highest to the lowest value, those without one last; equal ones as they were. */
export function ranked(heads: readonly Head[], by: Metric): readonly Head[] {
  const value = (head: Head) => metricValue(by, head) ?? Number.NEGATIVE_INFINITY;
  return [...heads].sort((a, b) => {
    const [first, second] = [value(a), value(b)];
    return first === second ? 0 : second - first;
  });
}

export const sameHead = (a: Head | null, b: Head | null): boolean =>
  a === b || (a?.layer === b?.layer && a?.head === b?.head);

/** The row and column of a head; null if it is not shown. */
export function placeOf(
  rows: readonly Row[],
  { layer, head }: Head,
): { readonly row: number; readonly column: number } | null {
  const row = rows.findIndex((other) => other.layer === layer);
  const column = rows[row]?.heads.indexOf(head) ?? -1;
  return column < 0 ? null : { row, column };
}

export const allHeads = (rows: readonly Row[]): readonly Head[] =>
  rows.flatMap(({ layer, heads }) => heads.map((head) => ({ layer, head })));

/**
 * A metric of the stack; null for a name that it does not have.
 *
 * @param pair the weight of the locked pair; null without one
 */
export const metricNamed = (
  { shown }: State,
  name: string,
  pair: Metric | null = null,
): Metric | null =>
  shown.metrics.value.find((metric) => metric.name === name) ?? (name === PAIR ? pair : null);
