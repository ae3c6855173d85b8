/**
 * The words of the neuron view: the numbers that lead to one weight, its legend, and its tables.
 */

import {
  biasError,
  type Explanation,
  explanationErrors,
  type Reading,
  sees,
} from "../../data/explanation.ts";
import type { LayerData } from "../../data/layer-data.ts";
import type { LayerInfo, Tokens } from "../../data/manifest.ts";
import { products } from "../../data/neurons.ts";
import { unitsOf } from "../../data/units.ts";
import {
  halfPrecision,
  keptAsWeights,
  vectorsWithin,
  weightsWithin,
} from "../../parts/fidelity.ts";
import type { Cells, Table } from "../../parts/table.ts";
import {
  colored,
  decimals,
  detail,
  live,
  number,
  type Phrase,
  pair,
  rounded,
  scaling,
  shareShown,
  tokenNames,
  weight,
  within,
} from "../../parts/text.ts";
import { generatedLegend } from "../../parts/tokens.ts";
import type { Palette } from "../../styles/palette.ts";
import { matrixCells, vectorCells } from "../shared/heads/tables.ts";
import { decisiveText } from "./column-headers.ts";
import type { QueryAnalysis } from "./query-analysis.ts";

/** The status line: the numbers that lead to one weight. */
export function neuronStatus(analysis: QueryAnalysis): Phrase {
  const { data, head, comparison } = analysis;
  const [explained, second] = [analysis.explanation.value, comparison.value];
  const key = analysis.key.value;
  const muted = analysis.muted.value.length;
  return [
    `Layer ${data.info.number} · Head ${head.value}  `,
    ...pairNumbers(data, head.value, explained, key),
    ...(muted && sees(explained, key)
      ? [detail(` without ${muted} ${muted > 1 ? "neurons" : "neuron"}`)]
      : []),
    ...(second ? [" · compared with ", ...pairNumbers(data, head.value, second, key)] : []),
    ...(sees(explained, key) ? terms(analysis, key).filter(Boolean).map(detail) : []),
  ];
}

/** "dog → lazy q·k 137.63 · ÷ √32 = 24.33 · softmax 0.999" */
function pairNumbers(data: LayerData, head: number, explained: Explanation, key: number): Phrase {
  const { original, shown, bias } = explained;
  const { program, dim } = data.info;
  const { queries, keys } = data.stack;
  const names = pair(tokenNames(queries)[explained.query], tokenNames(keys)[key]);
  if (!sees(explained, key)) return [...names, " masked: this query cannot see this key"];
  const before = explanationErrors(data, head, explained.query, false);
  const after = original === shown ? before : explanationErrors(data, head, explained.query, true);
  const added = bias ? ` ${within(bias[key], biasError(bias[key]))}` : "";
  const change = (own: string, without: string) =>
    original === shown ? own : `${own} → ${without}`;
  const dots = [
    within(original.dots[key], before.dot(key)),
    within(shown.dots[key], after.dot(key)),
  ] as const;
  const parts: string[] = [];
  if (program && original.scores && shown.scores) {
    const formula = scaling(program, head, dim as number);
    const score = change(
      within(original.scores[key], before.score),
      within(shown.scores[key], after.score),
    );
    parts.push(`${formula}${added} = ${score}`.trim());
  }
  // Weights without a score program do not follow muted neurons.
  const softmax = weight(original.weights[key], before.weight);
  const rest = weight(shown.weights[key], after.weight);
  parts.push(`softmax ${shown.scores ? change(softmax, rest) : softmax}`);
  if (original.sink !== null && shown.sink !== null) {
    const sinks = [weight(original.sink, before.sink), weight(shown.sink, after.sink)] as const;
    parts.push(`sink ${change(...sinks)}`);
  }
  return [...names, ` q·k ${change(...dots)}`, detail(parts.map((part) => ` · ${part}`).join(""))];
}

/**
 * The focused neuron, or else the largest that is not muted; and the number of decisive neurons.
 */
function terms(analysis: QueryAnalysis, key: number): readonly string[] {
  const { data, head } = analysis;
  const [explained, second] = [analysis.explanation.value, analysis.comparison.value];
  const k = data.key(head.value, key) as Float32Array;
  const queryAt = (query: number) => data.query(head.value, query) as Float32Array;
  const q = queryAt(explained.query);
  const first = products(q, k);
  const errors = explanationErrors(data, head.value, explained.query, false);
  const component = (value: number) => within(value, errors.component);
  const error = (at: number) => errors.product(q[at], k[at]);
  const muted = analysis.muted.value;
  const n = analysis.neuron.value;
  if (n !== null) {
    const partner = analysis.partner.value;
    const compared =
      second && sees(second, key)
        ? `, compared ${signed(queryAt(second.query)[n] * k[n], errors.product(queryAt(second.query)[n], k[n]))}`
        : "";
    return [
      second
        ? ` · neuron ${n} adds ${signed(first[n], error(n))}${compared}`
        : ` · neuron ${n}: q ${component(q[n])} × k ${component(k[n])} = ${within(first[n], error(n))}`,
      partner === null ? "" : ` · rotated with neuron ${partner}`,
      muted.includes(n) ? " · muted" : "",
    ];
  }
  // The numbers of two queries fill the line.
  if (second) return [];
  const left = [...first.keys()].filter((at) => !muted.includes(at));
  if (!left.length) return [];
  const largest = left.reduce((best, at) =>
    Math.abs(first[at]) > Math.abs(first[best]) ? at : best,
  );
  // Decisive neurons are known only without muting.
  const few = muted.length ? null : analysis.decisive.value;
  return [
    ` · neuron ${largest} adds ${signed(first[largest], error(largest))}`,
    few ? ` · ${decisiveText(few.length, first.length)}` : "",
  ];
}

const signed = (value: number, error: number) => `${value > 0 ? "+" : ""}${within(value, error)}`;

/**
 * The legend: colours, hatching, and how exact the numbers are.
 *
 * @param leftOut the vectors without space, by name
 */
export function neuronLegend(
  { positive, negative }: Palette,
  analysis: QueryAnalysis,
  leftOut: readonly string[],
): Phrase {
  const { info, stack } = analysis.data;
  const { vector, product } = analysis.scales;
  const { vectorRounding } = analysis.data;
  const productError = vectorRounding * (2 * vector.value + vectorRounding);
  const parts = [
    leftOut.length ? `no room for ${leftOut.join(" and ")}` : "",
    attentionShown(analysis),
    analysis.muted.value.length ? "hatched: muted, outlined: the model’s own" : "",
    analysis.comparison.value ? "hatched bars: compared query" : "",
    generatedLegend(stack.queries, stack.keys),
    rotaryText(info.rotary),
    halfPrecision(info),
    keptAsWeights([info]),
    weightsWithin(analysis.data.rounding, analysis.data.roundingRows),
    vectorsWithin(analysis.data.vectorRounding),
    `strongest colour ±${about(vector.value, vectorRounding)} (q, k), `,
  ];
  return [
    colored(positive, "■"),
    " positive  ",
    colored(negative, "■"),
    " negative",
    ...parts.filter(Boolean).map((part) => ` · ${part}`),
    live(`±${about(product.value, productError)} (q × k)`),
  ];
}

/** The share of the query's attention that the keys shown have; "" for all of it. */
function attentionShown({ shown, explanation }: QueryAnalysis): string {
  const { weights } = explanation.value.original;
  if (shown.keys.length === weights.length) return "";
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const part = shown.keys.reduce((sum, key) => sum + weights[key], 0);
  return shareShown((100 * part) / all, "the query’s attention");
}

/** A number with as many decimals as are right; a whole one if none is. */
const about = (value: number, error: number) => number(value, Math.max(0, decimals(error, 2)));

/** "rotary: n pairs with n + 32" */
function rotaryText(rotary: LayerInfo["rotary"]): string {
  if (!rotary) return "";
  const pairs =
    rotary.pairs === "halves" ? `n pairs with n + ${rotary.dims / 2}` : "neighbours are pairs";
  return `rotary: ${pairs}`;
}

/** The tables that can be copied. */
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
