/** The status line of the neuron view: the numbers that lead to one weight. */

import { type Explanation, sees } from "../../data/explanation.ts";
import type { LayerData } from "../../data/layer-data.ts";
import { products } from "../../data/neurons.ts";
import { tokenNames } from "../../parts/names.ts";
import { number, type Phrase, pair, scaling, weight } from "../../parts/text.ts";
import { decisiveText } from "./column-headers.ts";
import type { QueryAnalysis } from "./query-analysis.ts";

export function neuronStatus(facts: QueryAnalysis): Phrase {
  const { data, head, comparison } = facts;
  const [one, second] = [facts.explanation.value, comparison.value];
  const key = facts.key.value;
  const muted = facts.muted.value.length;
  return [
    `Layer ${data.info.number} · Head ${head.value}  `,
    ...pairNumbers(data, head.value, one, key),
    ...(muted && sees(one, key) ? [` without ${muted} ${muted > 1 ? "neurons" : "neuron"}`] : []),
    ...(second ? [" · compared with ", ...pairNumbers(data, head.value, second, key)] : []),
    ...(sees(one, key) ? terms(facts, key) : []),
  ];
}

/** "dog → lazy q·k 137.63 · ÷ √32 = 24.33 · softmax 0.999" */
function pairNumbers(data: LayerData, head: number, one: Explanation, key: number): Phrase {
  const [queries, keys] = [tokenNames(data.stack.queries), tokenNames(data.stack.keys)];
  const { original, shown, bias } = one;
  const { program, dim } = data.info;
  const names = pair(queries[one.query], keys[key]);
  if (!sees(one, key)) return [...names, " masked: this query cannot see this key"];
  const added = bias ? ` ${number(bias[key])}` : "";
  const change = (before: string, after: string) =>
    original === shown ? before : `${before} → ${after}`;
  const parts = [` q·k ${change(number(original.dots[key]), number(shown.dots[key]))}`];
  if (program && original.scores && shown.scores) {
    const formula = scaling(program, head, dim as number);
    const score = change(number(original.scores[key]), number(shown.scores[key]));
    parts.push(`${formula}${added} = ${score}`.trim());
  }
  // Weights without a score program do not follow muted neurons.
  const follows = shown.scores !== null;
  const softmax = weight(original.weights[key]);
  parts.push(`softmax ${follows ? change(softmax, weight(shown.weights[key])) : softmax}`);
  if (original.sink !== null && shown.sink !== null) {
    parts.push(`sink ${change(weight(original.sink), weight(shown.sink))}`);
  }
  return [...names, parts.join(" · ")];
}

/**
 * The focused neuron, or else the largest that is not muted; and the number of decisive neurons.
 */
function terms(facts: QueryAnalysis, key: number): readonly string[] {
  const { data, head } = facts;
  const [one, second] = [facts.explanation.value, facts.comparison.value];
  const k = data.key(head.value, key) as Float32Array;
  const queryAt = (query: number) => data.query(head.value, query) as Float32Array;
  const q = queryAt(one.query);
  const first = products(q, k);
  const muted = facts.muted.value;
  const n = facts.neuron.value;
  if (n !== null) {
    const partner = facts.partner.value;
    const compared =
      second && sees(second, key)
        ? `, compared ${signed(products(queryAt(second.query), k)[n])}`
        : "";
    return [
      second
        ? ` · neuron ${n} adds ${signed(first[n])}${compared}`
        : ` · neuron ${n}: q ${number(q[n])} × k ${number(k[n])} = ${number(first[n])}`,
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
  const few = muted.length ? null : facts.decisive.value;
  return [
    ` · neuron ${largest} adds ${signed(first[largest])}`,
    few ? ` · ${decisiveText(few.length, first.length)}` : "",
  ];
}

const signed = (value: number) => `${value > 0 ? "+" : ""}${number(value)}`;
