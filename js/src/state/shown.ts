/** The tokens that are shown of a text pair, by the chosen segments. */

import type { StackInfo, Tokens } from "../data/manifest.ts";
import type { Segments } from "./choices.ts";
import type { Place } from "./state.ts";

/** Positions of queries and keys. */
export interface Shown {
  readonly queries: readonly number[];
  readonly keys: readonly number[];
}

/** True where a stack's attention can be split by the two texts of a pair. */
export const isPair = ({ queries, keys }: StackInfo): boolean =>
  queries.segments !== null && keys.segments !== null;

/** The tokens that the choice of segments shows. */
export function shownTokens(segments: Segments, stack: StackInfo): Shown {
  const [way, span] = segments.split(":");
  if (span) {
    const [start, end] = span.split("-").map(Number);
    const all = shownTokens("all", stack);
    const side = way === "from" ? "queries" : "keys";
    const within = all[side].filter((position) => position >= start && position < end);
    return within.length ? { ...all, [side]: within } : all;
  }
  const of = (tokens: Tokens, letter: string | undefined) =>
    tokens.labels
      .map((_, position) => position)
      .filter((p) => !letter || tokens.segments?.[p] === "ab".indexOf(letter));
  const [query, key] = segments === "all" || !isPair(stack) ? [] : segments;
  const shown = { queries: of(stack.queries, query), keys: of(stack.keys, key) };
  // A text without tokens cannot be shown alone.
  return shown.queries.length && shown.keys.length ? shown : shownTokens("all", stack);
}

/** A place without the sides that are not among the tokens shown. */
export function visible({ query, key }: Place, shown: Shown): Place {
  return {
    query: query !== null && shown.queries.includes(query) ? query : null,
    key: key !== null && shown.keys.includes(key) ? key : null,
  };
}
