/** Effects of switched-off heads that a page has, which cannot run the model. */

import { fields, integer, list, orNull, text } from "../data/check.ts";
import { type Effect, readEffect } from "../data/effect.ts";
import { Absent } from "../data/resource-cache.ts";
import type { Source } from "../data/store.ts";

interface Saved {
  readonly stack: string;
  readonly heads: readonly (readonly [layer: number, head: number])[];
  /** One for the query that was locked, and one for none. */
  readonly replies: readonly { readonly query: number | null; readonly effect: unknown }[];
}

const SAVED = list(
  fields({
    stack: text(),
    heads: list(list(integer(0), integer(2, 2)), integer(1)),
    replies: list(fields({ query: orNull(integer(0)) }), integer(1)),
  }),
);

/** The effects of a page; null if it has none. */
export function savedEffects(sent: unknown): NonNullable<Source["effect"]> | null {
  if (sent === undefined) return null; // a page of an older version
  const wrong = SAVED(sent);
  if (wrong !== null) throw new Error(`its effects${wrong} are not valid`);
  const all = sent as readonly Saved[];
  if (!all.length) return null;
  return async ({ stack, heads }, query): Promise<Effect> => {
    const key = JSON.stringify(heads);
    const here = all.filter((each) => each.stack === stack);
    const found = here.find((each) => JSON.stringify(each.heads) === key);
    if (!found) throw new Absent(otherHeads(here));
    const { replies } = found;
    const reply = replies.find((each) => each.query === query) ?? replies[0];
    return readEffect(reply.effect);
  };
}

function otherHeads(here: readonly Saved[]): string {
  const names = here.map(({ heads }) => heads.map((head) => head.join("-")).join(" with "));
  const saved = names.length ? `This page was saved with the effect of ${names.join("; ")}. ` : "";
  return `${saved}For other heads, open the notebook with the model, and run the cell again.`;
}
