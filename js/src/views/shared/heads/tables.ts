/** What can be copied from the head view. */

import type { LayerData } from "../../../data/layer-data.ts";
import type { Table } from "../../../parts/table.ts";
import { otherSide } from "../../../state/locks.ts";
import { type Axis, sideOf } from "../axes.ts";
import { headIn } from "../layer-view.ts";
import { matrixCells, vectorCells } from "../tables.ts";
import type { HeadContent } from "./status.ts";

/** The row or column looked at of every head drawn, the matrix, and the vectors of its head. */
export function headTables(seen: HeadContent): readonly Table[] {
  const { data, axes } = seen;
  // Of a layer that does not come as a whole, only what is looked at can be copied.
  const whole = data.whole ? wholeTables(seen, data.whole) : [];
  const side = sideOf(seen.focused.value);
  if (!side || !seen.strips.value) return whole;
  const row: Table = {
    name: side === "query" ? "Row" : "Column",
    rows: () => stripRows(seen, axes[otherSide(side)]),
  };
  return [row, ...whole];
}

function wholeTables({ state, axes, matrix }: HeadContent, data: LayerData): readonly Table[] {
  const weights: Table = {
    name: "Matrix",
    rows: () => matrixCells(axes.query, axes.key, matrix.value.row),
  };
  const head = headIn(state, data);
  // Of several heads together, the vectors are still one head's.
  const name = matrix.value.head === null ? `Vectors of head ${head}` : "Vectors";
  const vectors: readonly Table[] =
    data.info.dim === null ? [] : [{ name, rows: () => vectorCells(data, head) }];
  return [weights, ...vectors];
}

function stripRows({ matrices, strips }: HeadContent, { units, shown, side }: Axis) {
  const header = [side, "token", ...matrices.value.map(({ name }) => name)];
  const rows = shown.map((unit) => [
    unit,
    units.labels[unit],
    ...(strips.value ?? []).map((strip) => strip[unit]),
  ]);
  return [header, ...rows];
}
