/** The status line of the neuron view: the numbers that lead to one weight. */

import { type Explanation, sees } from "../../data/explanation.ts";
import type { LayerData } from "../../data/layer-data.ts";
import { products } from "../../data/neurons.ts";
import { tokenNames } from "../../parts/names.ts";
import { number, type Phrase, pair, scaling, weight } from "../../parts/text.ts";
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
      ? [` without ${muted} ${muted > 1 ? "neurons" : "neuron"}`]
      : []),
    ...(second ? [" · compared with ", ...pairNumbers(data, head.value, second, key)] : []),
    ...(sees(explained, key) ? terms(analysis, key) : []),
  ];
}

/** "dog → lazy q·k 137.63 · ÷ √32 = 24.33 · softmax 0.999" */
function pairNumbers(data: LayerData, head: number, explained: Explanation, key: number): Phrase {
  const [queries, keys] = [tokenNames(data.stack.queries), tokenNames(data.stack.keys)];
  const { original, shown, bias } = explained;
  const { program, dim } = data.info;
  const names = pair(queries[explained.query], keys[key]);
  if (!sees(explained, key)) return [...names, " masked: this query cannot see this key"];
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
function terms(analysis: QueryAnalysis, key: number): readonly string[] {
  const { data, head } = analysis;
  const [explained, second] = [analysis.explanation.value, analysis.comparison.value];
  const k = data.key(head.value, key) as Float32Array;
  const queryAt = (query: number) => data.query(head.value, query) as Float32Array;
  const q = queryAt(explained.query);
  const first = products(q, k);
  const muted = analysis.muted.value;
  const n = analysis.neuron.value;
  if (n !== null) {
    const partner = analysis.partner.value;
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
  const few = muted.length ? null : analysis.decisive.value;
  return [
    ` · neuron ${largest} adds ${signed(first[largest])}`,
    few ? ` · ${decisiveText(few.length, first.length)}` : "",
  ];
}

const signed = (value: number) => `${value > 0 ? "+" : ""}${number(value)}`;
