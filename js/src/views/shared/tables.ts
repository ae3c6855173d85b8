/** Tables that more than one view offers. */

import type { LayerData } from "../../data/layer-data.ts";
import type { Cells } from "../../parts/table.ts";
import { rounded } from "../../parts/text.ts";
import type { Axis } from "./axes.ts";

/** A matrix as a table, with tokens or words as headers. */
export function matrixCells(
  query: Pick<Axis, "units" | "shown">,
  key: Pick<Axis, "units" | "shown">,
  row: (query: number) => Float32Array,
  rounding: (query: number, key: number) => number,
): readonly Cells[] {
  return [
    ["", ...key.shown.map((unit) => key.units.labels[unit])],
    ...query.shown.map((unit) => {
      const weights = row(unit);
      const cells = key.shown.map((to) => rounded(weights[to], rounding(unit, to)));
      return [query.units.labels[unit], ...cells];
    }),
  ];
}

/** The vectors of all queries and keys of a head as a table. */
export function vectorCells(data: LayerData, head: number): readonly Cells[] {
  const { queries, keys } = data.stack;
  const cells = (vector: Float32Array | null) =>
    Array.from(vector ?? [], (value) => rounded(value, data.vectorRounding));
  const components = Array.from({ length: data.info.dim ?? 0 }, (_, n) => `n${n}`);
  return [
    ["side", "position", "token", ...components],
    ...queries.labels.map((label, i) => ["query", i, label, ...cells(data.query(head, i))]),
    ...keys.labels.map((label, j) => ["key", j, label, ...cells(data.key(head, j))]),
  ];
}
