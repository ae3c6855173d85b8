/** Reads a manifest, and what comes beside it: puts comparisons together, and says what is damaged. */

import { fields, maybe, optional, type Read, type Reader, valid, where } from "../basics/reader.ts";
import {
  type Arc,
  about,
  arcs,
  type ComparedStack,
  compared,
  type Examples,
  examples,
  type LayerInfo,
  lenses,
  type Manifest,
  type Metric,
  metrics,
  type Patterns,
  patterns,
  peaksOf,
  type Similarity,
  type StackInfo,
  scoreGrids,
  similarity,
} from "./manifest.ts";

/** The format version that can be read. */
export const VERSION = 5;

/** Read a manifest: of what is left out, it says so. */
export function readManifest(sent: unknown): Manifest {
  const format = (sent as { readonly version?: unknown } | null)?.version;
  if (typeof format !== "number") throw new Error("This is not an attnwidget record.");
  if (format !== VERSION) {
    // A newer record in one kernel means that the front end was not built, or not installed, with it.
    const first =
      format > VERSION ? "In a clone, run make demo; else, install it again. Then r" : "R";
    throw new Error(
      `This record has format ${format}, and this view reads format ${VERSION}: another ` +
        `version of attnwidget wrote it. ${first}estart the kernel, and show the record again with Python.`,
    );
  }
  return recorded("manifest", manifest, sent);
}

/** Read the metrics that the user computed; some hosts leave them out. */
export const readMetrics = (sent: unknown, { stacks }: Manifest): readonly Metric[] =>
  recorded("metrics", metrics(stacks), sent ?? []);

/** Read annotated links; some hosts leave them out. */
export const readArcs = (sent: unknown, { stacks }: Manifest): readonly Arc[] =>
  recorded("arcs", arcs(stacks), sent ?? []);

/** Read the similarity of heads; null if it is not known. */
export const readSimilarity = (sent: unknown, { stacks }: Manifest): Similarity | null =>
  recorded("similarity", maybe(similarity(stacks)), sent);

/** Read the examples of heads; null if there are none. */
export const readExamples = (sent: unknown, { stacks }: Manifest): Examples | null =>
  recorded("examples", maybe(examples(stacks)), sent);

const recorded = <Value>(name: string, read: Reader<Value>, sent: unknown): Value =>
  valid(`This record is damaged: its ${name}`, read, sent);

function manifest(sent: unknown): Manifest {
  const record = about(sent);
  const described = fields({ lenses: lenses(record.stacks) })(sent).lenses;
  const stacks = record.stacks.map((stack) => withPeaks(stack, described));
  const numbers = fields({
    metrics: metrics(stacks),
    patterns: patterns(stacks),
    /** Missing where there are none. */
    grids: optional(scoreGrids(stacks)),
    /** Null for a single record. */
    compared: maybe(compared(stacks)),
  });
  const read = where(numbers, ({ metrics }) => {
    // Every stack needs a metric, the default of the model view.
    const all = stacks.every(({ layers }) => metrics.some(({ values }) => values.has(layers[0])));
    return all ? null : ".metrics";
  })(sent);
  return {
    ...record,
    stacks,
    lenses: described.map(({ peaks, ...lens }) => lens),
    metrics: read.metrics,
    grids: read.grids ?? [],
    patterns: withDifferences(read.patterns, [...(read.compared?.stacks.values() ?? [])]),
    compared: read.compared,
  };
}

/** A stack whose layers have the scales of the lenses. */
function withPeaks(stack: StackInfo, described: readonly SentLens[]): StackInfo {
  const scaled = described.filter(({ peaks }) => peaks);
  if (!scaled.length) return stack;
  const layers = stack.layers.map((layer) => ({
    ...layer,
    peaks: peaksOf(scaled.map(({ name, peaks }) => [name, peaks?.get(layer)])),
  }));
  return { ...stack, layers };
}

type SentLens = Read<ReturnType<typeof lenses>>[number];

/** The patterns, also of differences: they are coloured as A, and have words for both. */
function withDifferences(patterns: Patterns, pairs: readonly ComparedStack[]): Patterns {
  const [values, words] = [new Map(patterns.values), new Map(patterns.words)];
  const said = (layer: LayerInfo, head: number) =>
    words.get(layer)?.[head] ?? patterns.kinds[values.get(layer)?.[head] ?? 0];
  for (const { a, b, difference } of pairs) {
    difference.layers.forEach((layer, at) => {
      const own = values.get(a.layers[at]) ?? [];
      const both = own.map((_, head) => {
        const [before, after] = [said(a.layers[at], head), said(b.layers[at], head)];
        return before === after ? before : `${before} in A, ${after} in B`;
      });
      values.set(layer, own);
      words.set(layer, both);
    });
  }
  return { ...patterns, values, words };
}
