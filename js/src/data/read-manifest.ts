/** Reads a manifest: checks it, and fills in what is left out. */

import type { Check } from "../basics/check.ts";
import type {
  SentByHead,
  SentCompared,
  SentLens,
  SentMetric,
  SentPatterns,
} from "./check-manifest.ts";
import * as checks from "./check-manifest.ts";
import {
  type Arc,
  ATTENTION,
  type ByHead,
  type Compared,
  type Examples,
  type LayerInfo,
  type LensInfo,
  type Manifest,
  type Metric,
  type Similarity,
  type StackInfo,
} from "./manifest.ts";

/** The format version that can be read. */
export const VERSION = 4;

/** Read a manifest, with the keys of every stack and the values of metrics by layer. */
export function readManifest(sent: unknown): Manifest {
  const format = (sent as { readonly version?: unknown } | null)?.version;
  if (typeof format !== "number") throw new Error("This is not an attnwidget record.");
  if (format !== VERSION) {
    throw new Error(
      `This record has format ${format}, and this view reads format ${VERSION}: another ` +
        "version of attnwidget wrote it. Restart the kernel, and show the record again with Python.",
    );
  }
  const manifest = valid("manifest", checks.manifest, sent);
  const scaled = manifest.lenses.filter(({ peaks }) => peaks !== null);
  const stacks = manifest.stacks.map((stack) => ({
    ...stack,
    keys: stack.keys ?? stack.queries,
    sampled: stack.sampled ?? null,
    layers: scaled.length
      ? stack.layers.map((layer, at) => {
          const own = scaled.map(({ name, peaks }) => [name, peaks?.[stack.name]?.[at]] as const);
          return { ...layer, peaks: peaksOf(own) };
        })
      : stack.layers,
  }));
  const { version, model, missing, image, replay, texts, lenses, metrics, patterns } = manifest;
  const compared = manifest.compared ? readCompared(manifest.compared, stacks) : null;
  const pairs = [...(compared?.stacks.values() ?? [])];
  const words = { ...patterns.words, ...(compared && comparedWords(compared, patterns)) };
  const all = [...stacks, ...pairs.map(({ difference }) => difference)];
  // The pattern that colours a difference is that of A.
  const ofDifferences = pairs.map(({ a, difference }) => [
    difference.name,
    patterns.values[a.name],
  ]);
  return {
    version,
    model,
    missing,
    stacks,
    image: image ?? null,
    replay: replay ?? null,
    texts: texts ?? null,
    compared,
    lenses: lenses.map(readLens),
    metrics: metrics.map((metric) => readMetric(metric, stacks)),
    patterns: {
      kinds: patterns.kinds,
      values: byLayer({ ...patterns.values, ...Object.fromEntries(ofDifferences) }, all),
      words: byLayer(isolatedWords(words), all),
      reasons: byLayer(patterns.reasons ?? {}, stacks),
    },
  };
}

/** Read the metrics that the user computed; some hosts leave them out. */
export function readMetrics(sent: unknown, { stacks }: Manifest): readonly Metric[] {
  const metrics = valid("metrics", checks.metrics(stacks), sent ?? []);
  return metrics.map((metric) => readMetric(metric, stacks));
}

/** Read annotated links; some hosts leave them out. */
export const readArcs = (sent: unknown, { stacks }: Manifest): readonly Arc[] =>
  valid("arcs", checks.arcs(stacks), sent ?? []).map((arc) => ({
    ...arc,
    label: isolated(arc.label),
  }));

/** Read the similarity of heads; null if it is not known. */
export function readSimilarity(sent: unknown, { stacks }: Manifest): Similarity | null {
  if (sent === null || sent === undefined) return null;
  const read = valid("similarity", checks.similarity(stacks), sent);
  return {
    ...read,
    places: byLayer(read.places, stacks),
    nearest: byLayer(read.nearest, stacks),
  };
}

/** Read the examples of heads; null if there are none. */
export function readExamples(sent: unknown, { stacks }: Manifest): Examples | null {
  if (sent === null || sent === undefined) return null;
  const { texts, num_texts, metrics } = valid("examples", checks.examples(stacks), sent);
  const byName = Object.entries(metrics).map(
    ([name, values]) => [name, byLayer(values, stacks)] as const,
  );
  return { texts, count: num_texts, metrics: new Map(byName) };
}

/** A layer without queries and keys. */
const WEIGHTS = {
  bare: true,
  program: null,
  dim: null,
  rotary: null,
  sums: null,
} as const;

/** Words for each head of a difference: the same for both records, or one for each. */
function comparedWords({ stacks }: Compared, patterns: SentPatterns): SentByHead<string> {
  const words = [...stacks.values()].map(({ a, b, difference }) => {
    const said = ({ name }: StackInfo, layer: number, head: number) =>
      patterns.words?.[name]?.[layer][head] ??
      patterns.kinds[patterns.values[name][layer][head]].description;
    const rows = a.layers.map(({ heads }, layer) =>
      Array.from({ length: heads }, (_, head) => {
        const [before, after] = [said(a, layer, head), said(b, layer, head)];
        return before === after ? before : `${before} in A, ${after} in B`;
      }),
    );
    return [difference.name, rows] as const;
  });
  return Object.fromEntries(words);
}

function readCompared(sent: SentCompared, stacks: readonly StackInfo[]): Compared {
  const named = (name: string) => stacks.find((stack) => stack.name === name) as StackInfo;
  const pairs = sent.stacks.map(({ a, b, peaks, lenses }) => {
    const [own, other] = [named(a), named(b)];
    const all = Object.entries({ ...lenses, [ATTENTION.name]: peaks });
    const layers = own.layers.map((layer, at) => ({
      ...layer,
      ...WEIGHTS,
      peaks: peaksOf(all.map(([name, of]) => [name, of[at]])),
    }));
    const sides = [own, other] as const;
    const difference = { ...own, name: `${a}, B − A`, difference: sides, layers } as const;
    return [a, { a: own, b: other, difference }] as const;
  });
  return { stacks: new Map(pairs), names: sent.names, remark: sent.remark };
}

const peaksOf = (
  all: readonly (readonly [name: string, peaks: readonly number[] | null | undefined])[],
): NonNullable<LayerInfo["peaks"]> =>
  Object.fromEntries(
    all.filter((entry): entry is readonly [string, readonly number[]] => Boolean(entry[1])),
  );

/** The most letters of a lens's words, which stand before the numbers of a line. */
const MOST_LETTERS = 40;

function word(text: string): string {
  const letters = [...text];
  const short = letters.slice(0, MOST_LETTERS - 1).join("");
  return isolated(letters.length > MOST_LETTERS ? `${short}…` : text);
}

function readLens(sent: SentLens): LensInfo {
  const { label, one, many, unit, symbols } = sent;
  return {
    ...sent,
    label: word(label),
    one: word(one),
    many: word(many),
    unit: word(unit),
    symbols: symbols && [word(symbols[0]), word(symbols[1])],
  };
}

function readMetric(sent: SentMetric, stacks: readonly StackInfo[]): Metric {
  const { label, unit, values, null: random, interval } = sent;
  return {
    ...sent,
    label: isolated(label),
    unit: isolated(unit),
    values: byLayer(values, stacks),
    null: random ? { ...random, values: byLayer(random.values, stacks) } : null,
    interval: interval
      ? { low: byLayer(interval.low, stacks), high: byLayer(interval.high, stacks) }
      : null,
  };
}

/** The value, if it is valid. */
function valid<Value>(name: string, check: Check<Value>, value: unknown): Value {
  const wrong = check(value);
  if (wrong !== null) throw new Error(`This record is damaged: its ${name}${wrong} is not valid.`);
  return value as Value;
}

/**
 * The user's words, in Unicode's isolates if they are written from right to left, so that the numbers
 * and tokens beside them in a line keep their order.
 */
const isolated = (text: string): string =>
  RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;

const isolatedWords = (words: SentByHead<string>): SentByHead<string> =>
  Object.fromEntries(
    Object.entries(words).map(([name, layers]) => [name, layers.map((row) => row.map(isolated))]),
  );

const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Convert values by stack to values by layer. */
function byLayer<Value>(sent: SentByHead<Value>, stacks: readonly StackInfo[]): ByHead<Value> {
  const values = stacks.flatMap(({ name, layers }) =>
    layers.map((layer, at) => [layer, sent[name]?.[at]] as const),
  );
  return new Map(
    values.filter((entry): entry is [LayerInfo, readonly Value[]] => Boolean(entry[1])),
  );
}
