/** A word for what a head mostly does, from its measures. */

import type { LayerInfo, StackInfo } from "../../data/manifest.ts";
import { colored, type Phrase } from "../../parts/text.ts";
import type { Palette } from "../../styles/theme.ts";

export type Pattern = "previous" | "same" | "next" | "special" | "first" | "mixed";

export const PATTERN_NAMES: Readonly<Record<Pattern, string>> = {
  previous: "previous token",
  same: "same token",
  next: "next token",
  special: "special tokens",
  first: "first token",
  mixed: "mixed",
};

/** In this order, so that [CLS], which is both first and special, counts as special. */
const NAMED = ["previous", "same", "next", "special", "first"] as const;

/** The tokens that a stack attends from and to. */
type Sides = Pick<StackInfo, "queries" | "keys">;

/** Whether there is a same, a next and a previous token: not where the keys are another text. */
export const isSelf = ({ queries, keys }: Sides): boolean => queries === keys;

/** The kind of token that gets at least half of the attention; "mixed" where none does. */
export function patternOf(info: LayerInfo, head: number, sides: Sides): Pattern {
  const share = (pattern: (typeof NAMED)[number]) => info.measures[pattern][head];
  const named = isSelf(sides) ? NAMED : (["special", "first"] as const);
  const best = named.reduce((a, b) => (share(b) > share(a) ? b : a));
  return share(best) >= 0.5 ? best : "mixed";
}

/** "mostly previous token", or "mixed". */
export const described = (pattern: Pattern) =>
  `${pattern === "mixed" ? "" : "mostly "}${PATTERN_NAMES[pattern]}`;

/** How many heads follow which pattern, with the colour of each. */
export function countPatterns(
  heads: readonly { readonly layer: LayerInfo; readonly head: number }[],
  sides: Sides,
  palette: Palette,
): Phrase {
  const counts = new Map<Pattern, number>();
  for (const { layer, head } of heads) {
    const pattern = patternOf(layer, head, sides);
    counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .flatMap(([pattern, count], n) => [
      n ? "   " : "",
      colored(palette[pattern], "■"),
      ` ${count} ${PATTERN_NAMES[pattern]}`,
    ]);
}
