/** The tables that can be copied from views: of heads, matrices and vectors. */

import { roundingOfSum } from "../../../data/attention-matrix.ts";
import type { LayerData } from "../../../data/layer-data.ts";
import type { Cells, Table } from "../../../parts/table.ts";
import { rounded } from "../../../parts/text.ts";
import { otherSide } from "../../../state/locks.ts";
import { type Axis, sideOf } from "../axes.ts";
import { headIn } from "../layer-view.ts";
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
