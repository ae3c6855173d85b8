/** Which heads the model view shows, in which order. */

import type { LayerInfo, Measure, StackInfo } from "../../data/manifest.ts";
import type { Color, Sort } from "../../state/choices.ts";
import { measuresOf } from "./measures.ts";

/** One head of the model. */
export interface Head {
  readonly layer: LayerInfo;
  readonly head: number;
}

/** One layer and its heads from left to right. */
export interface Row {
  readonly layer: LayerInfo;
  readonly heads: readonly number[];
}

export interface Included {
  /** Null for all. */
  readonly layers: readonly number[] | null;
  readonly heads: readonly number[] | null;
}

/** Layers without any of the heads are left out; where nothing would be left, nothing is. */
export function rowsOf(stack: StackInfo, sort: Sort, included: Included): readonly Row[] {
  const has = (numbers: readonly number[] | null, number: number) => numbers?.includes(number);
  const rows = stack.layers
    .filter(({ number }) => has(included.layers, number) ?? true)
    .map((layer) => ({ layer, heads: headsOf(layer, sort, included.heads) }))
    .filter(({ heads }) => heads.length);
  return rows.length ? rows : rowsOf(stack, sort, { layers: null, heads: null });
}

/** From the highest to the lowest; equal ones as in the model. */
function headsOf(layer: LayerInfo, sort: Sort, included: readonly number[] | null) {
  const heads = Array.from({ length: layer.heads }, (_, head) => head).filter(
    (head) => included?.includes(head) ?? true,
  );
  if (sort === "model") return heads;
  const values = layer.measures[sort];
  return heads.sort((a, b) => values[b] - values[a] || a - b);
}

/** A choice that this stack has, or else the default. */
export function knownChoice<Choice extends Sort | Color>(
  choice: Choice,
  stack: StackInfo,
  plain: readonly Choice[],
): Choice {
  const known: readonly string[] = [...plain, ...measuresOf(stack)];
  return known.includes(choice) ? choice : plain[0];
}

/** The number that the view is about: what it is coloured by, else sorted by, else the entropy. */
export function measureInUse(color: Color, sort: Sort): Measure {
  if (color !== "pattern" && color !== "layer") return color;
  return sort === "model" ? "entropy" : sort;
}

/** Row and column of a head; null where it is not shown. */
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
