/** The numbers of the shared record, by layer, head, query and key. */

import { RECORD } from "./vectors.ts";

const TOKENS = 9;

type Labelled = { stacks: { queries: { labels: string[] } }[] };
export const LABELS: readonly string[] = (RECORD.manifest as Labelled).stacks[0].queries.labels;

/** Unique names: a repeated label has its position. */
export const NAMES = LABELS.map((label, at) =>
  label === "[SEP]" ? `[SEP]${at === 4 ? "₄" : "₈"}` : label,
);

const at = (head: number, query: number, key: number) => (head * TOKENS + query) * TOKENS + key;

export function weightAt(layer: number, head: number, query: number, key: number): number {
  return RECORD.weights[layer][at(head, query, key)] as number;
}

/** Null for a masked key. */
export function scoreAt(layer: number, head: number, query: number, key: number): number | null {
  return RECORD.scores[layer]?.[at(head, query, key)] ?? null;
}

/** The weights of every head of these layers at one place. */
export const headsAt = (layers: readonly number[], query: number, key: number): number[] =>
  layers.flatMap((layer) =>
    Array.from({ length: RECORD.weights[layer].length / TOKENS ** 2 }, (_, head) =>
      weightAt(layer, head, query, key),
    ),
  );

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
export const mean = (values: readonly number[]) => sum(values) / values.length;

/**
 * The three largest weights of a row or column, as the status line lists them.
 *
 * @param origin the head of a maximum, as the status line adds it
 */
export function strongest(
  heads: readonly number[],
  weightOf: (head: number, position: number) => number,
  among: readonly number[] = [...NAMES.keys()],
  origin: (position: number) => string = () => "",
): string {
  return heads
    .flatMap((head) =>
      among.map((at) => ({ at, name: NAMES[at], head, weight: weightOf(head, at) })),
    )
    .sort((a, b) => b.weight - a.weight)
    .slice(0, 3)
    .map(({ at, name, head, weight }) => {
      const whose = heads.length > 1 ? ` (head ${head})` : origin(at);
      return `${name} ${weight.toFixed(3)}${whose}`;
    })
    .join(" · ");
}

/** A number with a true minus sign. */
export const signed = (value: number) => value.toFixed(2).replace("-", "\u2212");

/** The scores of a head, row by row; -Infinity for masked keys. */
export const scoresOf = (layer: number, head: number): number[] =>
  (RECORD.scores[layer] ?? [])
    .slice(head * TOKENS ** 2, (head + 1) * TOKENS ** 2)
    .map((score) => score ?? Number.NEGATIVE_INFINITY);
