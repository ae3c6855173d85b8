/** The patterns of heads: what each head mostly attends to. */

import type { Head, Patterns } from "../../../data/manifest.ts";
import { colored, type Phrase } from "../../../parts/text.ts";
import type { Palette } from "../../../styles/palette.ts";

/** The index of a head's pattern. */
export const patternOf = ({ values }: Patterns, { layer, head }: Head): number =>
  values.get(layer)?.[head] ?? 0;

/** "mostly previous token", or "mixed". */
export const described = (patterns: Patterns, head: Head): string =>
  patterns.words.get(head.layer)?.[head.head] ??
  patterns.kinds[patternOf(patterns, head)].description;

/** The rules behind these words, with the head's numbers; "" for none. */
export const reasonsOf = ({ reasons }: Patterns, { layer, head }: Head): string =>
  reasons.get(layer)?.[head] ?? "";

export const patternColor = (pattern: number, { patterns }: Palette): string =>
  patterns[pattern % patterns.length];

/** The number of heads of each pattern, with its colour. */
export function countPatterns(
  patterns: Patterns,
  heads: readonly Head[],
  palette: Palette,
): Phrase {
  const counts = new Map<number, number>();
  for (const head of heads) {
    const pattern = patternOf(patterns, head);
    counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .flatMap(([pattern, count], n) => [
      n ? "   " : "",
      colored(patternColor(pattern, palette), "■"),
      ` ${count} ${patterns.kinds[pattern].label}`,
    ]);
}
