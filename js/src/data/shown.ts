/** The tokens that are shown of a text, by the chosen segments. */

import type { StackInfo, Tokens } from "./manifest.ts";

/** The tokens on both sides of a matrix. */
export type Sides = Pick<StackInfo, "queries" | "keys">;

/** Positions of queries and keys. */
export interface Shown {
  readonly queries: readonly number[];
  readonly keys: readonly number[];
}

/** True where a stack's attention can be split by the two texts of a pair. */
export const isPair = ({ queries, keys }: Sides): boolean =>
  queries.segments !== null && keys.segments !== null;

/** The tokens that the choice of segments shows. */
export function shownTokens(segments: string, stack: Sides): Shown {
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

/** True if the choice leaves out some tokens. */
export function leavesOut(segments: string, stack: Sides): boolean {
  const { queries, keys } = shownTokens(segments, stack);
  return queries.length < stack.queries.labels.length || keys.length < stack.keys.labels.length;
}
