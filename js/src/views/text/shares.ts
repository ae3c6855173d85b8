/** What the rows of a running text attend to: by token, by sentence, by message and by head. */

import type { RunningText, StackInfo } from "../../data/manifest.ts";
import type { TextShares } from "../../data/stack-store.ts";

/** The first and the last of several rows. */
export type Span = readonly [first: number, last: number];

export interface Part {
  /** The number of the sentence, counted from 0. */
  readonly index: number;
  /** Of what the prompt gets beyond sinks. */
  readonly share: number;
  /** The same, if each token got as much. */
  readonly even: number;
}

export interface Sink {
  readonly label: string;
  readonly keys: readonly number[];
  readonly share: number;
}

export interface Look {
  /** The weight of each key, the mean of the rows. */
  readonly weights: Float32Array;
  /** The weight of a token of the prompt if all got the same, and the largest. */
  readonly even: number;
  readonly largest: number;
  /** True for the tokens of the prompt that are counted: text, and no sinks. */
  readonly counted: readonly boolean[];
  readonly sinks: readonly Sink[];
  readonly parts: readonly Part[];
  /** Shares of all attention beyond sinks: of the messages, and of the answer so far. */
  readonly messages: readonly number[];
  readonly answer: number;
}

/** True for at least twice an even share. */
export const isMarked = ({ share, even }: Pick<Part, "share" | "even">): boolean =>
  share >= 2 * even;

/** The number of keys of the prompt. */
export const promptOf = ({ messages }: RunningText): number => messages.at(-1)?.end ?? 0;

/** @param row the weights of a row, [Tk] */
export function lookOf(
  stack: StackInfo,
  text: RunningText,
  kinds: Float32Array,
  row: (at: number) => Float32Array,
  [first, last]: Span,
): Look {
  const { labels } = stack.keys;
  const weights = new Float32Array(labels.length);
  for (let at = first; at <= last; at++) {
    row(at).forEach((weight, key) => {
      weights[key] += weight / (last - first + 1);
    });
  }
  const prompt = promptOf(text);
  const outside = new Set(text.template);
  const counted = labels.map((_, key) => key < prompt && !kinds[key] && !outside.has(key));
  const sum = (from: number, to: number, of = counted) =>
    weights.reduce((total, w, key) => total + (key >= from && key < to && of[key] ? w : 0), 0);
  const count = (from: number, to: number) => counted.slice(from, to).filter(Boolean).length;
  const [all, tokens] = [sum(0, prompt) || 1, count(0, prompt) || 1];
  const parts = text.sentences
    .map(([start, end], index) => ({
      index,
      share: sum(start, end) / all,
      even: count(start, end) / tokens,
    }))
    .filter(({ even }) => even > 0);
  const beyond = labels.map((_, key) => !kinds[key]);
  const rest = sum(0, labels.length, beyond) || 1;
  return {
    weights,
    even: all / tokens,
    largest: Math.max(...weights.map((weight, key) => (counted[key] ? weight : 0))),
    counted,
    sinks: sinksOf(labels, kinds, weights),
    // Those above their even share by how much, then the others.
    parts: parts.sort(
      (a, b) => Math.max(0, b.share - b.even) - Math.max(0, a.share - a.even) || b.share - a.share,
    ),
    messages: text.messages.map(({ start, end }) => sum(start, end) / rest),
    answer: sum(prompt, labels.length, beyond) / rest,
  };
}

function sinksOf(
  labels: readonly string[],
  kinds: Float32Array,
  weights: Float32Array,
): readonly Sink[] {
  const names = ["", "first token", "template"];
  const found = new Map<string, number[]>();
  kinds.forEach((kind, key) => {
    if (!kind) return;
    const label = names[kind] ?? `“${labels[key]}”`;
    found.set(label, [...(found.get(label) ?? []), key]);
  });
  return [...found].map(([label, keys]) => ({
    label,
    keys,
    share: keys.reduce((sum, key) => sum + weights[key], 0),
  }));
}

export interface Carrier {
  /** The head, counted through all layers from 0. */
  readonly head: number;
  /** Its attention on the sentence, and that of the other rows. */
  readonly share: number;
  readonly elsewhere: number;
}

/** Every head by its attention on a sentence, without sinks. */
export function carriers(
  { shares }: TextShares,
  { sentences }: RunningText,
  rows: number,
  part: number,
  [first, last]: Span,
): readonly Carrier[] {
  const heads = shares.length / (rows * sentences.length);
  const inside = last - first + 1;
  return Array.from({ length: heads }, (_, head) => {
    let [share, all] = [0, 0];
    for (let row = 0; row < rows; row++) {
      const weight = shares[(row * sentences.length + part) * heads + head];
      all += weight;
      if (row >= first && row <= last) share += weight;
    }
    const elsewhere = rows > inside ? (all - share) / (rows - inside) : 0;
    return { head, share: share / inside, elsewhere };
  });
}
