/** The units of a matrix's rows or columns: tokens, or words of several tokens. */

import type { StackInfo, Tokens } from "./manifest.ts";

export type Units = ReturnType<typeof unitsOf>;

/** True if some word has several tokens. */
export const hasWords = ({ queries, keys }: StackInfo): boolean =>
  [queries, keys].some(({ words, labels }) => words && words.labels.length < labels.length);

/** @param joined true to join the tokens of a word, if the words are known */
export function unitsOf({ labels, special, words, generated }: Tokens, joined: boolean) {
  const units = (joined && words) || { labels, of: labels.map((_, position) => position) };
  const tokens: number[][] = units.labels.map(() => []);
  units.of.forEach((unit, position) => {
    tokens[unit].push(position);
  });
  return {
    labels: units.labels,
    /** The special tokens among them. */
    special: special.map((position) => units.of[position]),
    /** The first unit that the model generated; null if it generated none. */
    generated: typeof generated === "number" ? units.of[generated] : null,
    /** The positions of the tokens of each unit. */
    tokens: tokens as readonly (readonly number[])[],
    /** The unit of each token, by position. */
    of: units.of,
  };
}
