/**
 * The words of the neuron view: the numbers that lead to one weight, its legend, and its tables.
 */

import { biasError, type ExplanationErrors, type Reading, sees } from "../../data/explanation.ts";
import type { LayerInfo } from "../../data/manifest.ts";
import { products } from "../../data/neurons.ts";
import {
  halfPrecision,
  keptAsWeights,
  vectorsWithin,
  weightsWithin,
} from "../../parts/fidelity.ts";
import type { Table } from "../../parts/table.ts";
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
  weight,
  within,
} from "../../parts/text.ts";
import { generatedLegend } from "../../parts/tokens.ts";
import type { Palette } from "../../styles/palette.ts";
import { headTitle } from "../shared/all-heads/words.ts";
import { matrixTable, vectorTable } from "../shared/heads/words.ts";
import { type Column, legendLine, statusLine, tableOf } from "../shared/words.ts";
import { decisiveText } from "./column-headers.ts";
import type { Explained, QueryAnalysis } from "./query-analysis.ts";

/** The status line: the numbers that lead to one weight. */
export function neuronStatus(analysis: QueryAnalysis): Phrase {
  const { data, head, explanation, comparison } = analysis;
  const key = analysis.key.value;
  const muted = analysis.muted.value.length;
  const isSeen = sees(explanation.value, key);
  const said = [
    `${headTitle({ layer: data.info, head: head.value })}  `,
    ...pairNumbers(analysis, explanation.value, key),
    muted && isSeen ? detail(` without ${muted} ${muted > 1 ? "neurons" : "neuron"}`) : "",
    ...(comparison.value
      ? [" · compared with ", ...pairNumbers(analysis, comparison.value, key)]
      : []),
  ];
  return statusLine(said, isSeen ? terms(analysis, key).filter(Boolean) : []);
}

/** "dog → lazy q·k 137.63 · ÷ √32 = 24.33 · softmax 0.999" */
function pairNumbers(
  { data, axes, head }: QueryAnalysis,
  explained: Explained,
  key: number,
): Phrase {
  const { original, shown, bias } = explained;
  const { original: before, shown: after } = explained.errors;
  const { program, dim } = data.info;
  const names = pair(axes.query.names[explained.query], axes.key.names[key]);
  if (!sees(explained, key)) return [...names, " masked: this query cannot see this key"];
  const added = bias ? ` ${within(bias[key], biasError(bias[key]))}` : "";
  const change = (own: string, without: string) =>
    original === shown ? own : `${own} → ${without}`;
  const dot = change(
    within(original.dots[key], before.dot(key)),
    within(shown.dots[key], after.dot(key)),
  );
  const parts: string[] = [];
  if (program && original.scores && shown.scores) {
    const formula = scaling(program, head.value, dim as number);
    const score = change(
      within(original.scores[key], before.score),
      within(shown.scores[key], after.score),
    );
    parts.push(`${formula}${added} = ${score}`.trim());
  }
  const { recurrence } = data.info;
  if (recurrence) {
    const [written, own] = [data.write(head.value, key), recurrence.own?.[head.value]];
    const number = change(
      within(original.weights[key], before.weight, 3),
      within(shown.weights[key], after.weight, 3),
    );
    const factor = recurrence.write ? `× write ${within(written, 0)} ` : "";
    const added = own && key === explained.query ? `+ own ${within(own, 0)} ` : "";
    return statusLine([...names, ` p·k ${dot}`], [`${factor}${added}= coefficient ${number}`]);
  }
  // Weights without a score program do not follow muted neurons.
  const softmax = weight(original.weights[key], before.weight);
  const rest = weight(shown.weights[key], after.weight);
  parts.push(`softmax ${shown.scores ? change(softmax, rest) : softmax}`);
  if (original.sink !== null && shown.sink !== null) {
    const sinks = [weight(original.sink, before.sink), weight(shown.sink, after.sink)] as const;
    parts.push(`sink ${change(...sinks)}`);
  }
  return statusLine([...names, ` q·k ${dot}`], parts);
}

/**
 * The focused neuron, or else the largest that is not muted; and the number of decisive neurons.
 */
function terms(analysis: QueryAnalysis, key: number): readonly string[] {
  const { data, head, explanation, comparison } = analysis;
  const k = data.key(head.value, key) as Float32Array;
  const queryAt = ({ query }: Explained) => data.queryAt(head.value, query, key) as Float32Array;
  const q = queryAt(explanation.value);
  const errors = explanation.value.errors.original;
  /** The product with the key's component, and its error. */
  const product = (of: Float32Array, n: number) =>
    [of[n] * k[n], errors.product(of[n], k[n])] as const;
  const muted = analysis.muted.value;
  const { value: n } = analysis.neuron;
  const { value: second } = comparison;
  if (n !== null) {
    const partner = analysis.partner.value;
    const compared =
      second && sees(second, key) ? `, compared ${signed(...product(queryAt(second), n))}` : "";
    const [ofQuery, ofKey] = [q[n], k[n]].map((value) => within(value, errors.component));
    return [
      second
        ? `neuron ${n} adds ${signed(...product(q, n))}${compared}`
        : `neuron ${n}: ${data.info.recurrence ? "p" : "q"} ${ofQuery} × k ${ofKey} = ${within(...product(q, n))}`,
      partner === null ? "" : `rotated with neuron ${partner}`,
      muted.includes(n) ? "muted" : "",
    ];
  }
  // The numbers of two queries fill the line.
  if (second) return [];
  const all = products(q, k);
  const left = [...all.keys()].filter((at) => !muted.includes(at));
  if (!left.length) return [];
  const largest = left.reduce((best, at) => (Math.abs(all[at]) > Math.abs(all[best]) ? at : best));
  // Decisive neurons are known only without muting.
  const few = muted.length ? null : analysis.decisive.value;
  return [
    `neuron ${largest} adds ${signed(...product(q, largest))}`,
    few ? decisiveText(few.length, all.length) : "",
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
  const colors = [colored(positive, "■"), " positive  ", colored(negative, "■"), " negative"];
  const parts = [
    leftOut.length ? `no room for ${leftOut.join(" and ")}` : "",
    attentionShown(analysis),
    analysis.muted.value.length ? "hatched: muted, outlined: the model’s own" : "",
    analysis.comparison.value ? "hatched bars: compared query" : "",
    generatedLegend(stack.queries, stack.keys),
    rotaryText(info.rotary),
    halfPrecision(info),
    keptAsWeights([info]),
    weightsWithin(
      analysis.data.rounding,
      analysis.data.roundingRows,
      info.signed ? "coefficients" : undefined,
    ),
    vectorsWithin(analysis.data.vectorRounding),
    `strongest colour ±${about(vector.value, vectorRounding)} (q, k), `,
  ];
  return [...legendLine(colors, parts), live(`±${about(product.value, productError)} (q × k)`)];
}

/** The share of the query's attention that the keys shown have; "" for all of it. */
function attentionShown({ data, shown, explanation }: QueryAnalysis): string {
  const { weights } = explanation.value.original;
  if (shown.keys.length === weights.length) return "";
  const all = weights.reduce((sum, weight) => sum + Math.abs(weight), 0);
  const part = shown.keys.reduce((sum, key) => sum + Math.abs(weights[key]), 0);
  const what = data.info.signed
    ? "the magnitudes of the query’s coefficients"
    : "the query’s attention";
  return shareShown((100 * part) / (all || 1), what);
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
  const { data, axes, head } = analysis;
  return [
    rowTable(analysis),
    matrixTable(
      axes,
      (query) => data.weightRow(head.value, query),
      (query) => data.rowRounding(head.value, query),
    ),
    vectorTable("Vectors", data, head.value),
  ];
}

/** A row per key and for the sink, of the explained and the compared query. */
function rowTable(analysis: QueryAnalysis): Table {
  const { data, shown, axes, head, explanation, comparison } = analysis;
  const { value: second } = comparison;
  const logit = data.sink(head.value);
  const rows = logit === null ? shown.keys : [...shown.keys, SINK];
  const { labels } = axes.key.units;
  return tableOf("Row", rows, () => [
    { name: "position", of: (key) => (key === SINK ? "" : key) },
    { name: "token", of: (key) => (key === SINK ? "sink" : labels[key]) },
    ...columnsOf(explanation.value, logit, ""),
    ...(second ? columnsOf(second, logit, `${axes.query.names[second.query]}: `) : []),
  ]);
}

/** The row of the sink among those of keys. */
const SINK = -1;

/** The model's numbers, and those without the muted neurons, if there are any. */
function columnsOf(
  { original, shown, bias, errors, signed }: Explained,
  logit: number | null,
  prefix: string,
): readonly Column<number>[] {
  /** @param sink the value in the sink's row */
  const column = (
    name: string,
    values: ArrayLike<number>,
    error: (key: number) => number,
    sink: number | string = "",
  ): Column<number> => ({
    name: `${prefix}${name}`,
    of: (key) => (key === SINK ? sink : rounded(values[key], error(key))),
  });
  const reading = (
    { dots, scores, weights, sink }: Reading,
    of: ExplanationErrors,
    suffix = "",
  ) => [
    column(`${signed ? "p·k" : "q·k"}${suffix}`, dots, of.dot),
    ...(scores ? [column(`score${suffix}`, scores, () => of.score, logit ?? "")] : []),
    column(
      `${signed ? "coefficient" : "weight"}${suffix}`,
      weights,
      () => of.weight,
      sink === null ? "" : rounded(sink, of.sink),
    ),
  ];
  const columns = reading(original, errors.original);
  if (bias)
    columns.splice(
      1,
      0,
      column("bias", bias, (key) => biasError(bias[key])),
    );
  if (shown === original) return columns;
  const muted = reading(shown, errors.shown, " (muted)");
  // Weights without a score program do not follow muted neurons.
  return [...columns, ...(shown.scores || signed ? muted : muted.slice(0, 1))];
}
