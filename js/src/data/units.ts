/** The units of a matrix's rows or columns: tokens, or words of several tokens. */

import type { StackInfo, Tokens } from "./manifest.ts";

export interface Units {
  readonly labels: readonly string[];
  /** The special tokens among them. */
  readonly special: readonly number[];
  /** The first unit that the model generated; null if it generated none. */
  readonly generated: number | null;
  /** The positions of the tokens of each unit. */
  readonly tokens: readonly (readonly number[])[];
  /** The unit of each token, by position. */
  readonly of: readonly number[];
}

/** True if some word has several tokens. */
export const hasWords = ({ queries, keys }: StackInfo): boolean =>
  [queries, keys].some(({ words, labels }) => words && words.labels.length < labels.length);

/** @param joined true to join the tokens of a word, if the words are known */
export function unitsOf(text: Tokens, joined: boolean): Units {
  const { labels, special, words } = text;
  const generated = text.generated ?? null;
  if (!joined || !words) {
    const all = labels.map((_, position) => position);
    return { labels, special, generated, tokens: all.map((position) => [position]), of: all };
  }
  const tokens: number[][] = words.labels.map(() => []);
  words.of.forEach((word, position) => {
    tokens[word].push(position);
  });
  return {
    labels: words.labels,
    special: special.map((position) => words.of[position]),
    generated: generated === null ? null : words.of[generated],
    tokens,
    of: words.of,
  };
}
