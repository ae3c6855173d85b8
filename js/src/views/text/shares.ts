/** What the rows of a running text attend to: by token, by sentence, by message and by head. */

import type { Ratios } from "../../data/effect.ts";
import type { RunningText } from "../../data/manifest.ts";
import type { TextShares } from "../../data/stack-store.ts";
import type { Choices } from "../../state/choices.ts";

/** The first and the last of several rows. */
export type Span = readonly [first: number, last: number];

/** A part of the prompt: a sentence, a paragraph or a message. */
export interface Part {
  /** Its tokens, and its sentences: the first, and the one after the last. */
  readonly start: number;
  readonly end: number;
  readonly sentences: readonly [first: number, end: number];
}

export interface PartShare {
  /** The number of the part, counted from 0. */
  readonly index: number;
  /** Of what the prompt gets beyond sinks. */
  readonly share: number;
  /** What it is compared with, see `Beside`; null where that is not known. */
  readonly beside: number | null;
}

/**
 * What shares are compared with: the same if each token got as much; that of the rest of the answer;
 * or what the place gets when the sentences stand in other orders.
 */
export type Beside = "even" | "rest" | "shuffled";

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
  /** What the parts are compared with: "even" where the other is not known. */
  readonly beside: Beside;
  readonly parts: readonly PartShare[];
  /** Shares of all attention beyond sinks: of the messages, and of the answer so far. */
  readonly messages: readonly number[];
  readonly answer: number;
}

/** True for at least twice what it is compared with. */
export const isMarked = ({ share, beside }: Pick<PartShare, "share" | "beside">): boolean =>
  beside !== null && share >= 2 * beside;

/** The number of keys of the prompt. */
export const promptOf = ({ messages }: RunningText): number => messages.at(-1)?.end ?? 0;

/** The parts of the prompt; a blank line ends a paragraph. */
export function partsOf(text: RunningText, level: Choices["parts"]): readonly Part[] {
  const { sentences, messages, offsets } = text;
  const messageOf = (at: number) => messages.findIndex(({ end }) => sentences[at][0] < end);
  const isBroken = (at: number) => {
    const [before, [start, end]] = [sentences[at - 1][1] - 1, sentences[at]];
    // A line break may be a token by itself, with which the next sentence begins.
    const own = text.text.slice(offsets[2 * start], offsets[2 * end - 1]);
    const word = offsets[2 * end - 1] - own.trimStart().length;
    return /\n\s*\n/.test(text.text.slice(offsets[2 * before], word));
  };
  const begins = sentences.flatMap((_, at) =>
    at === 0 ||
    level === "sentences" ||
    messageOf(at) !== messageOf(at - 1) ||
    (level === "paragraphs" && isBroken(at))
      ? [at]
      : [],
  );
  return begins.map((first, n) => {
    const end = begins[n + 1] ?? sentences.length;
    return { start: sentences[first][0], end: sentences[end - 1][1], sentences: [first, end] };
  });
}

interface Looked {
  readonly text: RunningText;
  readonly labels: readonly string[];
  /** The kind of each key as a sink. */
  readonly kinds: Float32Array;
  readonly parts: readonly Part[];
  /** The number of rows. */
  readonly rows: number;
  readonly beside: Beside;
  /** By row and sentence, as multiples of an even share; null if that is not measured. */
  readonly shuffled: Ratios | null;
}

/** @param row the weights of a row, [Tk] */
export function lookOf(
  { text, labels, kinds, parts, rows, beside, shuffled }: Looked,
  row: (at: number) => Float32Array,
  [first, last]: Span,
): Look {
  const inside = last - first + 1;
  const weights = meanOf(first, last + 1, labels.length, row);
  const prompt = promptOf(text);
  const outside = new Set(text.template);
  const counted = labels.map((_, key) => key < prompt && !kinds[key] && !outside.has(key));
  const sum = (from: number, to: number, of = counted, own = weights) => {
    let total = 0;
    for (let key = from; key < to; key++) if (of[key]) total += own[key];
    return total;
  };
  const count = (from: number, to: number) => counted.slice(from, to).filter(Boolean).length;
  const [all, tokens] = [sum(0, prompt) || 1, count(0, prompt) || 1];
  // The rest of the answer: all rows, without those that are looked at.
  const hasRest = beside === "rest" && inside < rows;
  const whole = hasRest ? meanOf(0, rows, labels.length, row) : weights;
  const others = whole.map(
    (weight, key) => (rows * weight - inside * weights[key]) / (rows - inside),
  );
  const ofOthers = hasRest ? sum(0, prompt, counted, others) || 1 : 1;
  const evenOf = (start: number, end: number) => count(start, end) / tokens;
  /** What the places of a part's sentences get, the mean of the rows; null if one is not known. */
  const ofPlaces = (ratios: Ratios, { sentences: [from, to] }: Part) => {
    const places = text.sentences.slice(from, to).flatMap(([start, end], at) =>
      ratios.slice(first, last + 1).map((row) => {
        const ratio = row[from + at];
        const even = evenOf(start, end);
        return ratio === null && even ? null : ((ratio ?? 0) * even) / inside;
      }),
    );
    return places.reduce((a, b) => (a === null || b === null ? null : a + b), 0);
  };
  const found = parts
    .map((part, index) => {
      const { start, end } = part;
      const even = evenOf(start, end);
      return {
        index,
        share: sum(start, end) / all,
        beside: hasRest
          ? sum(start, end, counted, others) / ofOthers
          : beside === "shuffled" && shuffled
            ? ofPlaces(shuffled, part)
            : even,
        tokens: count(start, end),
      };
    })
    .filter((part) => part.tokens > 0);
  const beyond = labels.map((_, key) => !kinds[key]);
  const rest = sum(0, labels.length, beyond) || 1;
  const above = ({ share, beside: by }: PartShare) => (by === null ? 0 : Math.max(0, share - by));
  return {
    weights,
    even: all / tokens,
    largest: Math.max(...weights.map((weight, key) => (counted[key] ? weight : 0))),
    counted,
    sinks: sinksOf(labels, kinds, weights),
    beside: hasRest || (beside === "shuffled" && shuffled) ? beside : "even",
    // Those above what they are compared with by how much, then the others.
    parts: found.sort((a, b) => above(b) - above(a) || b.share - a.share),
    messages: text.messages.map(({ start, end }) => sum(start, end) / rest),
    answer: sum(prompt, labels.length, beyond) / rest,
  };
}

/** The mean of several rows. */
function meanOf(
  from: number,
  to: number,
  keys: number,
  row: (at: number) => Float32Array,
): Float32Array {
  const mean = new Float32Array(keys);
  for (let at = from; at < to; at++) {
    row(at).forEach((weight, key) => {
      mean[key] += weight / (to - from);
    });
  }
  return mean;
}

/** The share of a part in each row, of what the prompt gets beyond sinks, and an even share. */
export function lookersAt(
  { counted }: Look,
  { start, end }: Part,
  rows: number,
  row: (at: number) => Float32Array,
): { readonly shares: readonly number[]; readonly even: number } {
  const shares = Array.from({ length: rows }, (_, at) => {
    let [own, all] = [0, 0];
    row(at).forEach((weight, key) => {
      if (!counted[key]) return;
      all += weight;
      if (key >= start && key < end) own += weight;
    });
    return own / (all || 1);
  });
  const count = counted.filter(Boolean).length;
  return { shares, even: counted.slice(start, end).filter(Boolean).length / (count || 1) };
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
  /** Its attention on the part, and that of the other rows. */
  readonly share: number;
  /** Null where all rows are looked at. */
  readonly elsewhere: number | null;
}

/** Every head by its attention on a part, without sinks. */
export function carriers(
  { shares }: Pick<TextShares, "shares">,
  { sentences }: RunningText,
  rows: number,
  { sentences: [begin, end] }: Part,
  [first, last]: Span,
): readonly Carrier[] {
  const heads = shares.length / (rows * sentences.length);
  const inside = last - first + 1;
  return Array.from({ length: heads }, (_, head) => {
    let [share, all] = [0, 0];
    for (let row = 0; row < rows; row++) {
      let weight = 0;
      for (let at = begin; at < end; at++) {
        weight += shares[(row * sentences.length + at) * heads + head];
      }
      all += weight;
      if (row >= first && row <= last) share += weight;
    }
    const elsewhere = rows > inside ? (all - share) / (rows - inside) : null;
    return { head, share: share / inside, elsewhere };
  });
}
