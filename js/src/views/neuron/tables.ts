/** The tables that can be copied from the neuron view. */

import type { Explanation, Reading } from "../../data/explanation.ts";
import type { Tokens } from "../../data/manifest.ts";
import { unitsOf } from "../../data/units.ts";
import { tokenNames } from "../../parts/names.ts";
import type { Cells, Table } from "../../parts/table.ts";
import { matrixCells, vectorCells } from "../shared/tables.ts";
import type { QueryAnalysis } from "./query-analysis.ts";

export function neuronTables(analysis: QueryAnalysis): readonly Table[] {
  const { data, shown, head } = analysis;
  const { queries, keys } = data.stack;
  const side = (tokens: Tokens, positions: readonly number[]) => ({
    units: unitsOf(tokens, false),
    shown: positions,
  });
  const matrix = () =>
    matrixCells(
      side(queries, shown.queries),
      side(keys, shown.keys),
      (query) => data.weightRow(head.value, query),
      (query) => data.rowRounding(head.value, query),
    );
  return [
    { name: "Row", rows: () => rowTable(analysis) },
    { name: "Matrix", rows: matrix },
    { name: "Vectors", rows: () => vectorCells(data, head.value) },
  ];
}

/** A row per key and for the sink, of the explained and the compared query. */
function rowTable({ data, shown, head, explanation, comparison }: QueryAnalysis): readonly Cells[] {
  const names = tokenNames(data.stack.queries);
  const second = comparison.value;
  const columns = [
    ...columnsOf(explanation.value, ""),
    ...(second ? columnsOf(second, `${names[second.query]}: `) : []),
  ];
  const sink = data.sink(head.value);
  return [
    ["position", "token", ...columns.map(({ name }) => name)],
    ...shown.keys.map((key) => [
      key,
      data.stack.keys.labels[key],
      ...columns.map(({ values }) => values[key]),
    ]),
    ...(sink === null ? [] : [["", "sink", ...columns.map((column) => column.sink(sink))]]),
  ];
}

interface Column {
  readonly name: string;
  readonly values: ArrayLike<number>;
  /** The value in the sink's row. */
  sink(logit: number): number | string;
}

/** The model's numbers, and those without the muted neurons, if there are any. */
function columnsOf({ original, shown, bias }: Explanation, prefix: string): readonly Column[] {
  const nothing = () => "";
  const reading = ({ dots, scores, weights, sink }: Reading, suffix: string): Column[] => [
    { name: `${prefix}q·k${suffix}`, values: dots, sink: nothing },
    ...(scores
      ? [{ name: `${prefix}score${suffix}`, values: scores, sink: (at: number) => at }]
      : []),
    { name: `${prefix}weight${suffix}`, values: weights, sink: () => sink ?? "" },
  ];
  const columns = reading(original, "");
  if (bias) columns.splice(1, 0, { name: `${prefix}bias`, values: bias, sink: nothing });
  if (shown === original) return columns;
  const muted = reading(shown, " (muted)");
  // Weights without a score program do not follow muted neurons.
  return [...columns, ...(shown.scores ? muted : muted.slice(0, 1))];
}
