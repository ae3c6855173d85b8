/** The tables that can be copied from the neuron view. */

import type { Explanation, Reading } from "../../data/explanation.ts";
import { biasError, explanationErrors } from "../../data/explanation.ts";
import type { LayerData } from "../../data/layer-data.ts";
import type { Tokens } from "../../data/manifest.ts";
import { unitsOf } from "../../data/units.ts";
import type { Cells, Table } from "../../parts/table.ts";
import { rounded, tokenNames } from "../../parts/text.ts";
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
    ...columnsOf(data, head.value, explanation.value, ""),
    ...(second ? columnsOf(data, head.value, second, `${names[second.query]}: `) : []),
  ];
  const sink = data.sink(head.value);
  return [
    ["position", "token", ...columns.map(({ name }) => name)],
    ...shown.keys.map((key) => [
      key,
      data.stack.keys.labels[key],
      ...columns.map(({ values, error }) => rounded(values[key], error(key))),
    ]),
    ...(sink === null ? [] : [["", "sink", ...columns.map((column) => column.sink(sink))]]),
  ];
}

interface Column {
  readonly name: string;
  readonly values: ArrayLike<number>;
  /** A bound of the difference of a value from the record's. */
  error(key: number): number;
  /** The value in the sink's row. */
  sink(logit: number): number | string;
}

/** The model's numbers, and those without the muted neurons, if there are any. */
function columnsOf(
  data: LayerData,
  head: number,
  { query, original, shown, bias }: Explanation,
  prefix: string,
): readonly Column[] {
  const nothing = () => "";
  const reading = (own: Reading, suffix: string): Column[] => {
    const errors = explanationErrors(data, head, query, own !== original);
    const { dots, scores, weights, sink } = own;
    const ofSink = () => (sink === null ? "" : rounded(sink, errors.sink));
    const columns: Column[] = [
      { name: `${prefix}q·k${suffix}`, values: dots, error: errors.dot, sink: nothing },
    ];
    if (scores) {
      const name = `${prefix}score${suffix}`;
      columns.push({ name, values: scores, error: () => errors.score, sink: (at: number) => at });
    }
    const name = `${prefix}weight${suffix}`;
    return [...columns, { name, values: weights, error: () => errors.weight, sink: ofSink }];
  };
  const columns = reading(original, "");
  if (bias) {
    const error = (key: number) => biasError(bias[key]);
    columns.splice(1, 0, { name: `${prefix}bias`, values: bias, error, sink: nothing });
  }
  if (shown === original) return columns;
  const muted = reading(shown, " (muted)");
  // Weights without a score program do not follow muted neurons.
  return [...columns, ...(shown.scores ? muted : muted.slice(0, 1))];
}
