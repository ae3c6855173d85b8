/** What the head view as a whole shows, and how exact its numbers are. */

import type { StackInfo } from "../../data/manifest.ts";
import type { Phrase } from "../../parts/text.ts";
import { halfPrecision, keptAsWeights, weightsWithin } from "../../parts/trust.ts";
import type { Context } from "../view.ts";
import { showsStack } from "./sheets.ts";
import type { Seen } from "./status.ts";

/** What sending a weight as float16 changes it by at most. */
const FLOAT16 = 2 ** -12;

/** @param share of the attention that is drawn, in percent. */
export function headLegend(
  { state, store }: Context,
  { data, axes, look }: Seen,
  share: number,
): Phrase {
  const { numQueries, numKeys, stack, info } = data;
  const whole = showsStack(state);
  // Sums over the tokens of a word, and over those that are locked together, add up their errors.
  const longest = Math.max(...axes.key.units.tokens.map(({ length }) => length));
  const together = Math.max(1, look.value.query.length || look.value.key.length);
  const error = (whole ? FLOAT16 : info.rounding) * longest * together;
  const parts = [
    // Rounded down: "100%" is said only of everything.
    share < 100 ? `${Math.floor(share * 10) / 10}% of attention shown` : "",
    keptAsWeights(whole ? stack.layers : [info]),
    weightsWithin(error),
    (whole ? stack.layers : [info]).map(halfPrecision).find(Boolean) ?? "",
    store.manifest.model,
    `${numQueries === numKeys ? numKeys : `${numQueries} × ${numKeys}`} tokens`,
    `${stack.layers.length} layers × ${headCount(stack)} heads`,
  ];
  return [parts.filter(Boolean).join(" · ")];
}

/** "12", or "8–12" where layers differ. */
function headCount({ layers }: StackInfo): string {
  const counts = layers.map(({ heads }) => heads);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? `${most}` : `${least}–${most}`;
}
