/** Names of links between tokens. */

import type { StackInfo, Tokens } from "../data/manifest.ts";
import type { Cut } from "../state/choices.ts";
import { counted } from "./text.ts";

/** "“was” → “lawyer”", "4 tokens → “lawyer”", or "all others → “lawyer”". */
export const linkText = ({ queries, keys }: StackInfo, [from, to]: Ends): string =>
  `${tokensText(queries, from, to)} → ${tokensText(keys, to, from)}`;

/** The same within a sentence. */
export const linkName = ({ queries, keys }: StackInfo, [from, to]: Ends): string =>
  `the links from ${tokensText(queries, from, to)} to ${tokensText(keys, to, from)}`;

type Ends = readonly [queries: Cut[0], keys: Cut[1]];

/** "3-1", "layer 3", "all heads" and so on. */
export function headsText([, , layers, heads]: Cut): string {
  if (layers?.length === 1 && heads?.length === 1) return `${layers[0]}-${heads[0]}`;
  const among = heads ? `${counted(heads.length, "head")} of ` : "";
  if (!layers) return heads ? `${among}each layer` : "all heads";
  return layers.length === 1 ? `${among}layer ${layers[0]}` : `${among}${layers.length} layers`;
}

/** @param opposite the tokens at the other end */
function tokensText({ labels }: Tokens, chosen: Cut[0], opposite: Cut[0]): string {
  if (!chosen || chosen.length === labels.length) return "all tokens";
  if (chosen.length === 1) return `“${labels[chosen[0]]}”`;
  // Neighbours are read as a text, if it is short.
  const inRow = chosen.length <= 3 && chosen.every((at, n) => at === chosen[0] + n);
  if (inRow) return `“${chosen.map((at) => labels[at]).join(" ")}”`;
  const others = opposite && !opposite.some((at) => chosen.includes(at));
  const rest = others && chosen.length + opposite.length === labels.length;
  return rest ? "all others" : `${chosen.length} tokens`;
}
