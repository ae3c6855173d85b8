/** The status line of the head view: the numbers of what is looked at. */

import type { LayerData } from "../data/layer.ts";
import { tokenNames } from "../parts/names.ts";
import { number, type Phrase, pair, strong, token, weight } from "../parts/text.ts";
import type { Place, Shown, State } from "../state.ts";
import { headIn } from "./layer-view.ts";

/** @param strips per active head, the weights of the row or column looked at. */
export function headStatus(
  state: State,
  data: LayerData,
  { query, key }: Place,
  shown: Shown,
  active: readonly number[],
  strips: readonly Float32Array[] | null,
): Phrase {
  const [queries, keys] = [tokenNames(data.stack.queries), tokenNames(data.stack.keys)];
  const release = state.hover.value === null ? " · Esc releases" : "";
  if (query !== null && key !== null) {
    const head = headIn(state, data);
    return [
      `Layer ${data.info.number} · Head ${head}  `,
      ...pair(queries[query], keys[key]),
      ...pairNumbers(data, head, query, key),
      release,
    ];
  }
  if (!strips) return ["Point at a token to see its attention; click to keep it."];
  const alone = active.length === 1 ? ` · Head ${active[0]}` : "";
  const [name, arrow] = query !== null ? [queries[query], " →"] : [keys[key as number], " ←"];
  const [others, positions] = query !== null ? [keys, shown.keys] : [queries, shown.queries];
  return [
    `Layer ${data.info.number}${alone}  `,
    token(name, true),
    strong(arrow),
    ...strongest(strips, active, positions).flatMap(({ value, at, head }, n) => [
      n ? " · " : " ",
      token(others[at]),
      ` ${weight(value)}${active.length > 1 ? ` (head ${head})` : ""}`,
    ]),
    release,
  ];
}

function pairNumbers(data: LayerData, head: number, query: number, key: number): string[] {
  const score = data.scoreRow(head, query)?.[key];
  if (score === Number.NEGATIVE_INFINITY) return [" masked: this query cannot see this key"];
  const text = ` weight ${weight(data.weightRow(head, query)[key])}`;
  return score === undefined ? [text] : [text, ` · score ${number(score)}`];
}

/** The three strongest of all heads that are drawn, among the positions that are shown. */
function strongest(
  strips: readonly Float32Array[],
  active: readonly number[],
  positions: readonly number[],
): { value: number; at: number; head: number }[] {
  return strips
    .flatMap((weights, n) => positions.map((at) => ({ value: weights[at], at, head: active[n] })))
    .sort((a, b) => b.value - a.value)
    .slice(0, 3);
}
