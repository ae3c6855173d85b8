/**
 * The words of the neuron view: the numbers that lead to one weight, its legend, and its tables.
 */

import { biasError, sees } from "../../data/explanation.ts";
import type { LayerInfo } from "../../data/manifest.ts";
import { products, strongest } from "../../data/neurons.ts";
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
import { numbersOf, QUANTITIES, type Quantity, SINK } from "./numbers.ts";
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
  const { original, shown, bias, logit } = explained;
  const { program, recurrence, dim } = data.info;
  const names = pair(axes.query.names[explained.query], axes.key.names[key]);
  if (!sees(explained, key)) return [...names, " masked: this query cannot see this key"];
  const added = bias ? ` ${within(bias[key], biasError(bias[key]))}` : "";
  /** The model's number, and, if they follow, that without the muted neurons. */
  const change = (quantity: Quantity, written = within, at = key, follows = true) => {
    const both = [false, true].slice(0, original !== shown && follows ? 2 : 1);
    const numbers = both.map((muted) => numbersOf(explained, quantity, muted));
    return numbers
      .map((each) => (each ? written(each.of(at) ?? 0, each.error(at)) : ""))
      .join(" → ");
  };
  if (recurrence) {
    const [written, own] = [data.write(head.value, key), recurrence.own?.[head.value]];
    const number = change("weight", (value, error) => within(value, error, 3));
    const factor = recurrence.write ? `× write ${within(written, 0)} ` : "";
    const added = own && key === explained.query ? `+ own ${within(own, 0)} ` : "";
    const parts = [`${factor}${added}= coefficient ${number}`];
    return statusLine([...names, ` p·k ${change("dot")}`], parts);
  }
  const score =
    program && original.scores
      ? `${scaling(program, head.value, dim as number)}${added} = ${change("score")}`.trim()
      : "";
  // Weights without a score program do not follow muted neurons.
  const softmax = `softmax ${change("weight", weight, key, original.scores !== null)}`;
  const sink = logit === null ? "" : `sink ${change("weight", weight, SINK)}`;
  return statusLine([...names, ` q·k ${change("dot")}`], [score, softmax, sink].filter(Boolean));
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
  const largest = strongest(left, all);
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
function rowTable({ shown, axes, explanation, explanations }: QueryAnalysis): Table {
  const { logit } = explanation.value;
  const rows = logit === null ? shown.keys : [...shown.keys, SINK];
  const { labels } = axes.key.units;
  return tableOf("Row", rows, () => [
    { name: "position", of: (key) => (key === SINK ? "" : key) },
    { name: "token", of: (key) => (key === SINK ? "sink" : labels[key]) },
    ...explanations.value.flatMap((each, second) =>
      columnsOf(each, second ? `${axes.query.names[each.query]}: ` : ""),
    ),
  ]);
}

/** The model's numbers, and those without the muted neurons, if there are any. */
function columnsOf(explained: Explained, prefix: string): readonly Column<number>[] {
  const { original, shown, signed } = explained;
  const names: Readonly<Record<Quantity, string>> = {
    dot: signed ? "p·k" : "q·k",
    bias: "bias",
    score: "score",
    weight: signed ? "coefficient" : "weight",
  };
  const columns = (quantities: readonly Quantity[], muted: boolean) =>
    quantities.flatMap((quantity): readonly Column<number>[] => {
      const numbers = numbersOf(explained, quantity, muted);
      if (!numbers) return [];
      const of = (key: number) => {
        const value = numbers.of(key);
        return value === null ? "" : rounded(value, numbers.error(key));
      };
      return [{ name: `${prefix}${names[quantity]}${muted ? " (muted)" : ""}`, of }];
    });
  // Weights without a score program do not follow muted neurons.
  const follow =
    shown.scores || signed ? (["dot", "score", "weight"] as const) : (["dot"] as const);
  return [...columns(QUANTITIES, false), ...(shown === original ? [] : columns(follow, true))];
}
