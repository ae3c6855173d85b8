/** The status line of the head view: the numbers of what is looked at. */

import type { LayerData } from "../data/layer.ts";
import { tokenNames } from "../parts/names.ts";
import { number, type Phrase, strong, weight } from "../parts/text.ts";
import type { Place, State } from "../state.ts";
import { headIn } from "./layer-view.ts";

/** @param strips per active head, the weights of the row or column looked at. */
export function headStatus(
  state: State,
  data: LayerData,
  { query, key }: Place,
  active: readonly number[],
  strips: readonly Float32Array[] | null,
): Phrase {
  const [queries, keys] = [tokenNames(data.stack.queries), tokenNames(data.stack.keys)];
  const release = state.hover.value === null ? " · Esc releases" : "";
  if (query !== null && key !== null) {
    const head = headIn(state, data);
    const pair = strong(`${queries[query]} → ${keys[key]}`);
    return [
      `Layer ${data.index} · Head ${head}  `,
      pair,
      ...pairNumbers(data, head, query, key),
      release,
    ];
  }
  if (!strips) return ["Point at a token to see its attention; click to keep it."];
  const alone = active.length === 1 ? ` · Head ${active[0]}` : "";
  const name = query !== null ? `${queries[query]} →` : `${keys[key as number]} ←`;
  const others = query !== null ? keys : queries;
  return [
    `Layer ${data.index}${alone}  `,
    strong(name),
    ` ${strongest(strips, active, others)}`,
    release,
  ];
}

function pairNumbers(data: LayerData, head: number, query: number, key: number): string[] {
  const score = data.scoreRow(head, query)?.[key];
  if (score === Number.NEGATIVE_INFINITY) return [" masked: this query cannot see this key"];
  const text = ` weight ${weight(data.weightRow(head, query)[key])}`;
  return score === undefined ? [text] : [text, ` · score ${number(score)}`];
}

/** The three strongest of all heads that are drawn, each with its head. */
function strongest(
  strips: readonly Float32Array[],
  active: readonly number[],
  names: readonly string[],
): string {
  return strips
    .flatMap((weights, n) => Array.from(weights, (value, at) => ({ value, at, head: active[n] })))
    .sort((a, b) => b.value - a.value)
    .slice(0, 3)
    .map(({ value, at, head }) => {
      const whose = active.length > 1 ? ` (head ${head})` : "";
      return `${names[at]} ${weight(value)}${whose}`;
    })
    .join(" · ");
}
