/** A word for what a head mostly does, from its measures. */

import type { LayerInfo } from "../data/manifest.ts";
import type { Palette } from "../theme.ts";

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

/** The kind of token that gets at least half of the attention; "mixed" where none does. */
export function patternOf(info: LayerInfo, head: number): Pattern {
  const share = (pattern: (typeof NAMED)[number]) => info.measures[pattern][head];
  const best = NAMED.reduce((a, b) => (share(b) > share(a) ? b : a));
  return share(best) >= 0.5 ? best : "mixed";
}

export function patternColor(pattern: Pattern, palette: Palette): string {
  switch (pattern) {
    case "previous":
    case "same":
      return palette.diagonal;
    case "next":
      return palette.following;
    case "special":
    case "first":
      return palette.ink;
    default:
      return palette.mixed;
  }
}
