/** Tables that more than one view offers. */

import type { LayerData } from "../../data/layer-data.ts";
import type { Cells } from "../../parts/table.ts";
import type { Axis } from "./axes.ts";

/** A matrix as a table, with tokens or words as headers. */
export function matrixCells(
  query: Pick<Axis, "units" | "shown">,
  key: Pick<Axis, "units" | "shown">,
  row: (query: number) => Float32Array,
): readonly Cells[] {
  return [
    ["", ...key.shown.map((unit) => key.units.labels[unit])],
    ...query.shown.map((unit) => {
      const weights = row(unit);
      return [query.units.labels[unit], ...key.shown.map((to) => weights[to])];
    }),
  ];
}

/** The vectors of all queries and keys of a head as a table. */
export function vectorCells(data: LayerData, head: number): readonly Cells[] {
  const { queries, keys } = data.stack;
  const components = Array.from({ length: data.info.dim ?? 0 }, (_, n) => `n${n}`);
  return [
    ["side", "position", "token", ...components],
    ...queries.labels.map((label, i) => ["query", i, label, ...(data.query(head, i) ?? [])]),
    ...keys.labels.map((label, j) => ["key", j, label, ...(data.key(head, j) ?? [])]),
  ];
}
