/** The test vectors that are shared with Python; `tests/vectors/make.py` writes them. */

import { expect } from "vitest";
import base85 from "../../../tests/vectors/base85.json";
import blocks from "../../../tests/vectors/blocks.json";
import coded from "../../../tests/vectors/coded.json";
import following from "../../../tests/vectors/following.json";
import overview from "../../../tests/vectors/overview.json";
import record from "../../../tests/vectors/record.json";
import recurrences from "../../../tests/vectors/recurrences.json";
import rounded from "../../../tests/vectors/rounded.json";
import scores from "../../../tests/vectors/scores.json";
import type { Block, Part } from "../../src/data/codec.ts";
import { ATTENTION, type LayerInfo, type Program } from "../../src/data/manifest.ts";
import type { Choices } from "../../src/state/choices.ts";

/** JSON has no -Infinity: null stands for it. */
export type Numbers = readonly (number | null)[];

export interface ScoreCase {
  readonly name: string;
  readonly program: Program;
  readonly heads: number;
  readonly key_heads: number;
  readonly num_queries: number;
  readonly num_keys: number;
  readonly dim: number;
  readonly queries: readonly number[];
  readonly keys: readonly number[];
  /** The shapes of the next three arrays that are not null. */
  readonly shapes: Readonly<Partial<Record<"bias" | "visible" | "relative", readonly number[]>>>;
  readonly bias: readonly number[] | null;
  readonly visible: readonly number[] | null;
  readonly relative: readonly number[] | null;
  readonly scores: Numbers;
  readonly weights: Numbers;
}

export interface RecurrenceCase {
  readonly name: string;
  readonly heads: number;
  readonly query_heads: number;
  readonly key_heads: number;
  readonly num_tokens: number;
  readonly dim: number;
  readonly recurrence: NonNullable<LayerInfo["recurrence"]>;
  readonly queries: readonly number[];
  readonly keys: readonly number[];
  /** Empty where there is none. */
  readonly decay: readonly number[];
  readonly write: readonly number[];
  readonly erase: readonly number[];
  readonly coefficients: readonly number[];
}

export interface SentBlock {
  readonly parts: readonly Part[];
  /** Base64. */
  readonly buffers: readonly string[];
}

export interface BlockCase extends SentBlock {
  readonly name: string;
  readonly decoded: Readonly<Record<string, readonly number[]>>;
}

export interface CodedCase extends SentBlock {
  readonly name: string;
  readonly values: readonly number[];
}

/** The consequences of a change. Choices that `before` does not name have their default. */
export interface FollowingCase {
  /** The stack after the change: its numbers of queries and keys, and heads by layer number. */
  readonly stack: {
    readonly queries: number;
    readonly keys: number;
    readonly heads: Readonly<Record<string, number>>;
  };
  readonly before: Partial<Choices>;
  readonly change: Partial<Choices>;
  /** All that changes. */
  readonly after: Partial<Choices>;
}

export interface SentRecord {
  readonly manifest: unknown;
  readonly overview: string;
  /** One hexadecimal digit per cell of a thumbnail, by stack, layer and head. */
  readonly levels: readonly (readonly (readonly string[])[])[];
  readonly blocks: Readonly<Record<string, SentBlock>>;
}

export const FOLLOWING = following as unknown as readonly FollowingCase[];
export const RECURRENCES = recurrences as unknown as readonly RecurrenceCase[];
export const SCORES = scores as unknown as readonly ScoreCase[];
export const BLOCKS = blocks as unknown as readonly BlockCase[];
/** Bytes in base64, and as the text of a page. */
export const BASE85 = base85;
/** Blocks of one array, "integers". */
export const CODED = coded as unknown as readonly CodedCase[];
/** Rounded blocks whose values stay exact: queries and keys in two bases, and weights. */
export const ROUNDED = rounded as unknown as readonly BlockCase[];
/**
 * The stack "encoder" with layers 0 and 1 of 2 and 3 heads and more tokens than a thumbnail has cells,
 * and "cross" with layers 3 and 7 of 1 and 2 heads, 3 queries and 5 keys; something is missing.
 */
export const OVERVIEW = overview as unknown as SentRecord;
/** A text pair; layers of 4 heads, of 2 heads with weights alone, and of 10 causal heads. */
export const RECORD = record as unknown as SentRecord & {
  /** [head, query, key], by layer. */
  readonly scores: readonly (Numbers | null)[];
  readonly weights: readonly Numbers[];
};

export interface SentStack {
  readonly name: string;
  readonly layers: readonly { readonly heads: number }[];
}

/** The manifest of a record with other stacks, and attention alone, in which every metric is zero. */
export function withStacks(
  stacks: readonly SentStack[],
  { manifest }: SentRecord = RECORD,
): object {
  const { metrics, patterns } = manifest as { metrics: object[]; patterns: object };
  const values = Object.fromEntries(
    stacks.map(({ name, layers }) => [name, layers.map(({ heads }) => Array(heads).fill(0))]),
  );
  return {
    ...(manifest as object),
    stacks,
    lenses: [{ ...ATTENTION, peaks: null }],
    metrics: metrics.map((metric) => ({ ...metric, values })),
    patterns: { ...patterns, values },
  };
}

export function bytes(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

export function blockOf({ parts, buffers }: SentBlock): Block {
  return { parts, buffers: buffers.map(bytes) };
}

/** Equal to 1e-5, element by element. */
export function expectClose(actual: ArrayLike<number>, expected: Numbers): void {
  const wanted = expected.map((value) => value ?? Number.NEGATIVE_INFINITY);
  expect(actual.length).toBe(wanted.length);
  const wrong = wanted
    .map((value, at) => ({ at, value, actual: actual[at] }))
    .filter(({ value, actual }) => value !== actual && !(Math.abs(value - actual) <= 1e-5));
  expect(wrong).toEqual([]);
}
