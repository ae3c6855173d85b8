/** What the rows of a running text attend to: by token, by sentence, by message and by head. */

import type { Ratios } from "../../data/effect.ts";
import type { RunningText } from "../../data/manifest.ts";
import type { Choices } from "../../state/choices.ts";
import type { PromptImage } from "./images.ts";

/** The first and the last of several rows. */
export type Span = readonly [first: number, last: number];

/** A part of the prompt: a sentence, a paragraph, a message, or other tokens in a row. */
export interface Part {
  /** As "sentence 2", or as somebody has named it. */
  readonly name: string;
  readonly isNamed: boolean;
  /** Its tokens, and its sentences: the first, and the one after the last; null if it has no whole ones. */
  readonly start: number;
  readonly end: number;
  readonly sentences: readonly [first: number, end: number] | null;
  /** Its text; of an image, none. */
  readonly words: string;
  /** Of a region of an image, its tokens alone, which are not in a row. */
  readonly keys?: readonly number[];
}

/** Patches that the reader has drawn a box around. */
export interface Region {
  readonly name: string;
  readonly keys: readonly number[];
}

/** The tokens of a part. */
export const keysOf = ({ start, end, keys }: Pick<Part, "start" | "end" | "keys">) =>
  keys ?? Array.from({ length: end - start }, (_, at) => start + at);

type Images = readonly Pick<PromptImage, "name" | "start" | "end">[];

/** The text of some tokens, in which images are words. */
function wordsOf(
  { text, offsets, template }: RunningText,
  start: number,
  end: number,
  images: Images,
): string {
  const written = (from: number, to: number) => {
    while (from < to && template.includes(from)) from++;
    while (from < to && template.includes(to - 1)) to--;
    return from < to ? text.slice(offsets[2 * from], offsets[2 * to - 1]).trim() : "";
  };
  const inside = images.filter((image) => image.start >= start && image.end <= end);
  const words = inside.map(
    (image, n) => `${written(inside[n - 1]?.end ?? start, image.start)} [${image.name}] `,
  );
  return `${words.join("")}${written(inside.at(-1)?.end ?? start, end)}`.trim();
}

/**
 * What shares are compared with: the same if each token got as much; that of the rest of the answer;
 * or what the place gets when the sentences stand in other orders.
 */
export type Beside = "even" | "rest" | "shuffled";

export type Look = ReturnType<typeof lookOf>;
type PartShare = Look["parts"][number];

/** True for at least twice what it is compared with. */
export const isMarked = ({ share, beside }: Omit<PartShare, "index">): boolean =>
  beside !== null && share >= 2 * beside;

/** The number of keys of the prompt. */
const promptOf = ({ messages }: RunningText): number => messages.at(-1)?.end ?? 0;

/** Some tokens of the prompt as a part; none if they are all of the answer. */
export function partAt(
  text: RunningText,
  name: string,
  start: number,
  after: number,
  images: Images = [],
): readonly Part[] {
  const end = Math.min(after, promptOf(text));
  const first = text.sentences.findIndex(([from]) => from === start);
  const last = text.sentences.findIndex(([, to]) => to === end);
  const sentences = first >= 0 && last >= first ? ([first, last + 1] as const) : null;
  const words = wordsOf(text, start, end, images);
  return start < end ? [{ name, isNamed: true, start, end, sentences, words }] : [];
}

/** The parts of the prompt; a blank line ends a paragraph. */
export function partsOf(
  text: RunningText,
  level: Choices["parts"],
  named: Choices["named_segments"] = [],
  images: Images = [],
): readonly Part[] {
  if (level === "named") {
    return named.flatMap(([start, end, name]) => partAt(text, name, start, end, images));
  }
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
    const last = begins[n + 1] ?? sentences.length;
    const [start, end] = [sentences[first][0], sentences[last - 1][1]];
    const image = images.find((each) => each.start === start && each.end === end);
    return {
      name: image?.name ?? `${level.slice(0, -1)} ${n + 1}`,
      isNamed: false,
      start,
      end,
      sentences: [first, last],
      words: image ? "" : wordsOf(text, start, end, images),
    };
  });
}

interface Looked {
  readonly text: RunningText;
  readonly labels: readonly string[];
  /** True for a patch of an image. */
  readonly isPatch?: (key: number) => boolean;
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
  { text, labels, isPatch, kinds, parts, rows, beside, shuffled }: Looked,
  row: (at: number) => Float32Array,
  [first, last]: Span,
) {
  const inside = last - first + 1;
  const weights = meanOf(first, last + 1, labels.length, row);
  const prompt = promptOf(text);
  const around = new Set(text.template);
  const outside = labels.map((_, key) => !kinds[key] && around.has(key));
  const counted = labels.map((_, key) => key < prompt && !kinds[key] && !around.has(key));
  type Keys = Pick<Part, "start" | "end" | "keys">;
  const sum = (part: Keys, of = counted, own = weights) =>
    keysOf(part).reduce((total, key) => total + (of[key] ? own[key] : 0), 0);
  const count = (part: Keys) => keysOf(part).filter((key) => counted[key]).length;
  const whole = { start: 0, end: prompt };
  const [total, tokens] = [sum(whole) || 1, count(whole) || 1];
  // The rest of the answer: all rows, without those that are looked at.
  const hasRest = beside === "rest" && inside < rows;
  const mean = hasRest ? meanOf(0, rows, labels.length, row) : weights;
  const others = mean.map(
    (weight, key) => (rows * weight - inside * weights[key]) / (rows - inside),
  );
  const ofOthers = hasRest ? sum(whole, counted, others) || 1 : 1;
  const evenOf = (part: Keys) => count(part) / tokens;
  /** What the places of a part's sentences get, the mean of the rows; null if one is not known. */
  const ofPlaces = (ratios: Ratios, { sentences }: Part) => {
    if (!sentences) return null;
    const [from, to] = sentences;
    const places = text.sentences.slice(from, to).flatMap(([start, end], at) =>
      ratios.slice(first, last + 1).map((row) => {
        const ratio = row[from + at];
        const even = evenOf({ start, end });
        return ratio === null && even ? null : ((ratio ?? 0) * even) / inside;
      }),
    );
    return places.reduce((a, b) => (a === null || b === null ? null : a + b), 0);
  };
  const by: Beside = hasRest || (beside === "shuffled" && shuffled) ? beside : "even";
  const besideOf = (part: Part) => {
    if (hasRest) return sum(part, counted, others) / ofOthers;
    return beside === "shuffled" && shuffled ? ofPlaces(shuffled, part) : evenOf(part);
  };
  const found = parts.flatMap((part, index) =>
    count(part) ? [{ index, share: sum(part) / total, beside: besideOf(part) }] : [],
  );
  const beyond = labels.map((_, key) => !kinds[key]);
  const rest = sum({ start: 0, end: labels.length }, beyond) || 1;
  const above = ({ share, beside }: (typeof found)[number]) =>
    beside === null ? 0 : Math.max(0, share - beside);
  return {
    /** The weight of each key, the mean of the rows. */
    weights,
    /** The sum of the weights on the prompt's text, without sinks. */
    total,
    /** The weight of a token of the prompt if all got the same, and the largest. */
    even: total / tokens,
    largest: Math.max(...weights.map((weight, key) => (counted[key] ? weight : 0))),
    /** True for the tokens of the prompt that are counted: text, and no sinks. */
    counted,
    sinks: sinksOf(labels, kinds, weights, isPatch),
    /** What the parts are compared with: "even" where the other is not known. */
    beside: by,
    /**
     * The number of each part, counted from 0, with its share of what the prompt gets beyond sinks,
     * and what that is compared with, null where it is not known. Those above it by how much, then
     * the others.
     */
    parts: found.sort((a, b) => above(b) - above(a) || b.share - a.share),
    /** Shares of all attention beyond sinks: of messages, what is around them, the answer so far. */
    messages: text.messages.map((message) => sum(message) / rest),
    template: sum(whole, outside) / rest,
    answer: sum({ start: prompt, end: labels.length }, beyond) / rest,
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
  part: Part,
  rows: number,
  row: (at: number) => Float32Array,
): { readonly shares: readonly number[]; readonly even: number } {
  const keys = keysOf(part);
  const inside = new Set(keys);
  const shares = Array.from({ length: rows }, (_, at) => {
    let [own, all] = [0, 0];
    row(at).forEach((weight, key) => {
      if (!counted[key]) return;
      all += weight;
      if (inside.has(key)) own += weight;
    });
    return own / (all || 1);
  });
  const count = counted.filter(Boolean).length;
  return { shares, even: keys.filter((key) => counted[key]).length / (count || 1) };
}

function sinksOf(
  labels: readonly string[],
  kinds: Float32Array,
  weights: Float32Array,
  isPatch = (_: number) => false,
) {
  const names = ["", "first token", "template"];
  const found = new Map<string, number[]>();
  kinds.forEach((kind, key) => {
    if (!kind) return;
    const label = names[kind] ?? (isPatch(key) ? "patches" : `“${labels[key]}”`);
    found.set(label, [...(found.get(label) ?? []), key]);
  });
  return [...found].map(([label, keys]) => ({
    label,
    keys,
    share: keys.reduce((sum, key) => sum + weights[key], 0),
  }));
}

export type Carrier = ReturnType<typeof carriers>[number];

/**
 * Every head by its attention on several pieces of the prompt, without sinks.
 *
 * @param shares [rows, pieces, heads]
 * @param pieces all of them
 * @param looked the first, and the one after the last
 */
export function carriers(
  shares: Float32Array,
  rows: number,
  pieces: number,
  [begin, end]: readonly [number, number],
  [first, last]: Span,
) {
  const heads = shares.length / (rows * pieces);
  const inside = last - first + 1;
  return Array.from({ length: heads }, (_, head) => {
    let [share, all] = [0, 0];
    for (let row = 0; row < rows; row++) {
      let weight = 0;
      for (let at = begin; at < end; at++) {
        weight += shares[(row * pieces + at) * heads + head];
      }
      all += weight;
      if (row >= first && row <= last) share += weight;
    }
    return {
      /** The head, counted through all layers from 0. */
      head,
      /** Its attention on the part, and that of the other rows; null where all are looked at. */
      share: share / inside,
      elsewhere: rows > inside ? (all - share) / (rows - inside) : null,
    };
  });
}
