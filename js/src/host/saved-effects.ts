/** Effects of heads and links that are off, which a page has, which cannot run the model. */

import { fields, integer, list, maybe, orNull, type Read, text, valid } from "../basics/reader.ts";
import { same } from "../basics/same.ts";
import { type Effect, readEffect, readOthers } from "../data/effect.ts";
import type { Off } from "../data/requests.ts";
import { Absent } from "../data/resource-cache.ts";
import type { Effects } from "../data/store.ts";
import { SCHEMA } from "../state/choices.ts";

const OTHERS = "For others, open the notebook with the model, and run the cell again.";

const SAVED = list(
  fields({
    stack: text(),
    heads: SCHEMA.off.read,
    // Pages of older versions have heads alone.
    cut: maybe(SCHEMA.cut.read),
    /** One for the query that was locked, and one for none. */
    replies: list(fields({ query: orNull(integer(0)), effect: readEffect }), integer(1)),
    /** The mean effects of as many other heads. Pages of older versions have none. */
    others: maybe(readOthers),
  }),
);

type Saved = Read<typeof SAVED>;
type Reply = Saved[number]["replies"][number];

/** The effects of a page, and words for those of a stack; null if it has none. */
export function savedEffects(sent: unknown): Required<Effects> | null {
  if (sent === undefined) return null; // a page of an older version
  const all = valid("its effects", SAVED, sent);
  if (!all.length) return null;
  const of = (stack: string) => all.filter((each) => each.stack === stack);
  const found = ({ stack, heads, cut }: Off): Saved[number] => {
    const here = of(stack);
    const one = here.find((each) => same([each.heads, each.cut ?? []], [heads, cut]));
    if (!one) throw new Absent(`${saved(here)}${OTHERS}`);
    return one;
  };
  const effect = async (off: Off, query: number | null): Promise<Effect> => {
    const { replies } = found(off);
    const at = ({ effect }: Reply) => effect.predicts && effect.position;
    const reply = replies.find((each) => [each.query, at(each)].includes(query));
    if (reply) return reply.effect;
    const positions = [...new Set(replies.map(at))];
    const named = `position${positions.length > 1 ? "s" : ""} ${positions.join(" and ")}`;
    return { ...replies[0].effect, only: `. This page has only ${named}.` };
  };
  const others = async (off: Off) => found(off).others ?? [];
  return { effect, others, saved: (stack) => saved(of(stack)) };
}

/** The sentence that says which effects are here; "" for none. */
function saved(here: Saved): string {
  const names = here.map(({ heads, cut }) =>
    [...heads.map((head) => head.join("-")), ...(cut ?? []).map(() => "cut links")].join(" with "),
  );
  return names.length ? `This page was saved with the effect of ${names.join("; ")}. ` : "";
}
