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

/** A choice as what it says of special tokens, true to leave them out, and of segments. */
export function partsOf(choice: string): readonly [content: boolean, segments: string] {
  const [first, ...rest] = choice.split(" ");
  return first === "content" ? [true, rest.join(" ") || "all"] : [false, choice];
}

/** The choice of these parts. */
export const choiceOf = (content: boolean, segments: string): string =>
  content ? `content ${segments}`.replace(" all", "") : segments;

/** The tokens that the choice of segments shows. */
export function shownTokens(choice: string, stack: Sides): Shown {
  const [content, segments] = partsOf(choice);
  const { queries, keys } = ofSegments(segments, stack);
  if (!content) return { queries, keys };
  return {
    queries: withoutSpecial(stack.queries, queries),
    keys: withoutSpecial(stack.keys, keys),
  };
}

/** The tokens that are not special; all of them if all are. */
function withoutSpecial({ special }: Tokens, positions: readonly number[]): readonly number[] {
  const left = new Set(special);
  const content = positions.filter((position) => !left.has(position));
  return content.length ? content : positions;
}

function ofSegments(segments: string, stack: Sides): Shown {
  const [way, span] = segments.split(":");
  if (span) {
    const [start, end] = span.split("-").map(Number);
    const all = ofSegments("all", stack);
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
  return shown.queries.length && shown.keys.length ? shown : ofSegments("all", stack);
}

/** True if the choice leaves out some tokens. */
export function leavesOut(segments: string, stack: Sides): boolean {
  const { queries, keys } = shownTokens(segments, stack);
  return queries.length < stack.queries.labels.length || keys.length < stack.keys.labels.length;
}

/** The first token of a pair's second text; null unless one text follows the other. */
export function splitOf({ segments, labels }: Tokens): number | null {
  const at = segments?.indexOf(1) ?? -1;
  if (!segments || at <= 0) return null;
  return segments.lastIndexOf(0) < at && at < labels.length ? at : null;
}

/** The chosen segments if a stack's thumbnails keep them apart; else those of all texts. */
export function shownSegments(choice: string, { queries, keys }: Sides): string {
  const [content, segments] = partsOf(choice);
  const mixed = splitOf(queries) === null || splitOf(keys) === null;
  return mixed && !segments.includes(":") ? choiceOf(content, "all") : choice;
}
