/** The tables that can be copied from a view of heads. */

import { roundingOfSum } from "../../../data/attention-matrix.ts";
import type { LayerData } from "../../../data/layer-data.ts";
import type { Table } from "../../../parts/table.ts";
import { rounded } from "../../../parts/text.ts";
import { otherSide } from "../../../state/locks.ts";
import { type Axis, sideOf } from "../axes.ts";
import { headIn } from "../layer-view.ts";
import { matrixCells, vectorCells } from "../tables.ts";
import type { HeadContent } from "./status.ts";

/** The focused row or column of every drawn head, the matrix, and the vectors of a head. */
export function headTables(content: HeadContent): readonly Table[] {
  const { data, axes } = content;
  // Only the focused row or column of a layer that is fetched row by row can be copied.
  const whole = data.whole
    ? [matrixTable(content), ...vectorTables(content, data.whole)]
    : data.stack.difference && !content.matrix.value.overview
      ? [matrixTable(content)]
      : [];
  const side = sideOf(content.focused.value);
  if (!side || !content.strips.value) return whole;
  const row: Table = {
    name: side === "query" ? "Row" : "Column",
    rows: () => stripRows(content, axes[otherSide(side)]),
  };
  return [row, ...whole];
}

const matrixTable = ({ axes, matrix }: HeadContent): Table => ({
  name: "Matrix",
  rows: () => matrixCells(axes.query, axes.key, matrix.value.row, matrix.value.rounding),
});

function vectorTables({ state, matrix }: HeadContent, data: LayerData): readonly Table[] {
  const head = headIn(state, data);
  // With combined heads, the vectors are those of the current head.
  const name = matrix.value.head === null ? `Vectors of head ${head}` : "Vectors";
  return data.info.dim === null ? [] : [{ name, rows: () => vectorCells(data, head) }];
}

function stripRows({ matrices, strips, focused }: HeadContent, { units, shown, side }: Axis) {
  const from = otherSide(side);
  const header = [side, "token", ...matrices.value.map(({ name }) => name)];
  const rows = shown.map((unit) => [
    unit,
    units.labels[unit],
    ...(strips.value ?? []).map((strip, at) =>
      rounded(strip[unit], roundingOfSum(matrices.value[at], from, focused.value[from], unit)),
    ),
  ]);
  return [header, ...rows];
}
