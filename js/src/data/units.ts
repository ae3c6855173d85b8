/** The units of a matrix's rows or columns: tokens, or words of several tokens. */

import type { StackInfo, Tokens } from "./manifest.ts";

export interface Units {
  readonly labels: readonly string[];
  /** Those that are special tokens. */
  readonly special: readonly number[];
  /** The positions of the tokens of each. */
  readonly tokens: readonly (readonly number[])[];
  /** By position of a token, which of them it belongs to. */
  readonly of: readonly number[];
}

/** True where joining tokens to words would change anything. */
export const hasWords = ({ queries, keys }: StackInfo): boolean =>
  [queries, keys].some(({ words, labels }) => words && words.labels.length < labels.length);

/** @param words whether to join the tokens of a word, where that is known. */
export function unitsOf({ labels, special, words }: Tokens, joined: boolean): Units {
  if (!joined || !words) {
    const all = labels.map((_, position) => position);
    return { labels, special, tokens: all.map((position) => [position]), of: all };
  }
  const tokens: number[][] = words.labels.map(() => []);
  words.of.forEach((word, position) => {
    tokens[word].push(position);
  });
  return {
    labels: words.labels,
    special: special.map((position) => words.of[position]),
    tokens,
    of: words.of,
  };
}
