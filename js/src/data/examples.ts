/** Texts in which a number of a head is highest, usual, or lowest. */

import type { ByHead, SentByHead } from "./manifest.ts";

/** The place of a text, its rank from 0, its number, and the head's strongest pair there. */
export type SentExample = readonly [
  text: number,
  rank: number,
  value: number,
  query: number,
  key: number,
];

/** The example with the highest number, that next to the median, and that with the lowest. */
export type OfHead = readonly (SentExample | null)[];

export interface SentExamples {
  readonly texts: readonly string[];
  readonly num_texts: number;
  readonly metrics: Readonly<Record<string, SentByHead<OfHead>>>;
}

export interface Examples {
  /** The beginning of each text. */
  readonly texts: readonly string[];
  /** The number of texts among which they are highest, usual, or lowest. */
  readonly count: number;
  /** By the name of a metric; null for an example that is not among the texts. */
  readonly metrics: ReadonlyMap<string, ByHead<OfHead>>;
}

/** An example that the reader wants to see. */
export interface Opening {
  /** Its place among the texts. */
  readonly text: number;
  readonly stack: string;
  readonly layer: number;
  readonly head: number;
  readonly query: number;
}
