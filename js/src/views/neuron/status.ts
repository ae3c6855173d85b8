/** The status line of the neuron view: the numbers that lead to one weight. */

import { biasError, type Explanation, explanationErrors, sees } from "../../data/explanation.ts";
import type { LayerData } from "../../data/layer-data.ts";
import { products } from "../../data/neurons.ts";
import {
  detail,
  type Phrase,
  pair,
  scaling,
  tokenNames,
  weight,
  within,
} from "../../parts/text.ts";
import { decisiveText } from "./column-headers.ts";
import type { QueryAnalysis } from "./query-analysis.ts";

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
