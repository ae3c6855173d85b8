/** The status line of the neuron view: how one weight comes about, in numbers. */

import type { LayerData } from "../data/layer.ts";
import { tokenNames } from "../parts/names.ts";
import { number, type Phrase, pair, scaling, weight } from "../parts/text.ts";
import type { State } from "../state.ts";
import { headIn } from "./layer-view.ts";
import type { Explanation } from "./neuron-paint.ts";

export function neuronStatus(
  state: State,
  data: LayerData,
  { query, scores, weights }: Explanation,
  key: number,
): Phrase {
  const head = headIn(state, data);
  const [queries, keys] = [tokenNames(data.stack.queries), tokenNames(data.stack.keys)];
  const from = [`Layer ${data.info.number} · Head ${head}  `, ...pair(queries[query], keys[key])];
  const [q, k] = [data.query(head, query), data.key(head, key)];
  const { program } = data.info;
  if (!q || !k || !scores || !program) return [...from, ` softmax ${weight(weights[key])}`];
  if (scores[key] === Number.NEGATIVE_INFINITY) {
    return [...from, " masked: this query cannot see this key"];
  }
  const terms = q.map((value, n) => value * k[n]);
  const dot = terms.reduce((sum, value) => sum + value, 0);
  const largest = terms.reduce(
    (best, value, n) => (Math.abs(value) > Math.abs(terms[best]) ? n : best),
    0,
  );
  const sign = terms[largest] > 0 ? "+" : "";
  return [
    ...from,
    ` q·k ${number(dot)} · ${scaling(program, head, q.length)} = ${number(scores[key])}`,
    ` · softmax ${weight(weights[key])}`,
    ` · largest term: neuron ${largest}, ${sign}${number(terms[largest])}`,
  ];
}
