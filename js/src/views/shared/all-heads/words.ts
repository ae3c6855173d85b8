/** What is said of heads: names, patterns, and numbers in status lines and tables. */

import {
  type Head,
  type Manifest,
  type Metric,
  metricValue,
  type Patterns,
  type StackInfo,
} from "../../../data/manifest.ts";
import { headLabel, headWords, layerNumber, partnerOf } from "../../../data/pairing.ts";
import { el } from "../../../parts/dom.ts";
import type { Table } from "../../../parts/table.ts";
import { colored, counted, number, type Phrase, strong } from "../../../parts/text.ts";
import type { Palette } from "../../../styles/palette.ts";
import { statusLine, tableOf } from "../words.ts";
import { allHeads, type Row } from "./heads.ts";

/** The name of a head in the status line and the preview. */
export const headTitle = ({ layer, head }: Head) =>
  `Layer ${layerNumber(layer)} · ${headLabel(layer, head)}`;

/** The accessible name of a head. */
export const headName = ({ layer, head }: Head) =>
  `Layer ${layerNumber(layer)}, ${headWords(layer, head)}`;

/** The texts or the queries that thumbnails and metrics are computed from; "" for all of this text. */
export function sampledText({ sampled, queries }: StackInfo, { texts }: Manifest): string {
  if (texts !== null) return `means of ${counted(texts, "text")}`;
  if (sampled === null) return "";
  const [some, all] = [sampled, queries.labels.length].map((count) => count.toLocaleString("en"));
  return `pictures and numbers from ${some} of ${all} queries`;
}

/** The index of a head's pattern: what it mostly attends to. */
export const patternOf = ({ values }: Patterns, { layer, head }: Head): number =>
  values.get(layer)?.[head] ?? 0;

/** The metrics that tell the pattern of a head on one text. */
const SHARES = ["first", "special", "previous", "next", "same"];

/**
 * "looks at the previous token", or "mixed".
 *
 * @param metrics of which the largest share stands beside "mixed": "mixed: 38% on first token"
 */
export function described(patterns: Patterns, head: Head, metrics: readonly Metric[] = []): string {
  const words =
    patterns.words.get(head.layer)?.[head.head] ?? patterns.kinds[patternOf(patterns, head)];
  let most = 0.01;
  let where = "";
  for (const metric of metrics) {
    const share = metricValue(metric, head) ?? 0;
    // Those of a difference have signs.
    if (share > most && !metric.signed && SHARES.includes(metric.name)) {
      most = share;
      // Rounded down, since half of the attention would be a pattern. Labels are "share on …".
      where = `: ${Math.floor(100 * share)}% ${metric.label.slice(6)}`;
    }
  }
  return words === "mixed" ? words + where : words;
}

/** The rules behind these words, with the head's numbers; "" for none. */
export const reasonsOf = ({ reasons }: Patterns, { layer, head }: Head): string =>
  reasons.get(layer)?.[head] ?? "";

export const patternColor = (pattern: number, { patterns }: Palette): string =>
  patterns[pattern % patterns.length];

/** The number of heads of each pattern, with its colour. */
export function countPatterns(
  patterns: Patterns,
  heads: readonly Head[],
  palette: Palette,
): Phrase {
  const counts = new Map<number, number>();
  for (const head of heads) {
    const pattern = patternOf(patterns, head);
    counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .flatMap(([pattern, count], n) => [
      n ? "   " : "",
      colored(patternColor(pattern, palette), "■"),
      // Not broken within.
      ` ${count} ${patterns.kinds[pattern]}`.replaceAll(" ", "\xa0"),
    ]);
}

/** "entropy 1.23 nats" */
export const measured = (metric: Metric, head: Head): string =>
  `${metric.label} ${inFull(metric, metricValue(metric, head))}`;

/** " (random weights 1.20 nats)", as the rules of patterns have it; "" without a null. */
const besideNull = (metric: Metric, head: Head): string =>
  metric.null ? ` (${metric.null.label} ${inFull(metric, metricValue(metric.null, head))})` : "";

/** A value with its unit and the meaning of its sign. A number above zero never looks like zero. */
export function inFull({ digits, unit, directions }: Metric, value: number | null): string {
  if (value === null) return "no value";
  const small = value > 0 && value < 0.5 * 10 ** -digits;
  const text = small ? `<${(10 ** -digits).toFixed(digits)}` : number(value, digits);
  const side = Number(value.toFixed(digits)) && directions?.[value < 0 ? 0 : 1];
  return `${text}${unit && ` ${unit}`}${side ? ` (${side})` : ""}`;
}

/** A value for narrow columns: with at most two decimals, unless they would all be zero. */
export const briefly = ({ digits }: Metric, value: number | null): string =>
  value === null ? "–" : number(value, digits > 3 ? digits : Math.min(digits, 2));

/** The metric in use first. */
export const ordered = (inUse: Metric, metrics: readonly Metric[]): readonly Metric[] => [
  inUse,
  ...metrics.filter((other) => other !== inUse),
];

/** The metric in use, and those that are not zero for all of the layer, as of later tokens in a decoder. */
const telling = (metrics: readonly Metric[], { layer }: Head) =>
  metrics.filter((metric, at) => !at || metric.values.get(layer)?.some(Boolean));

/** The most metrics of a status line; a profile has many more. */
const MOST_METRICS = 12;

/**
 * @param words see `described`
 * @param metrics in the order in which they are named
 * @param more see `statusLine`
 */
export function headStatus(
  head: Head,
  words: string,
  metrics: readonly Metric[],
  more: Phrase = [],
): Phrase {
  const told = telling(metrics, head);
  const [first, ...details] = told.slice(0, MOST_METRICS).map((each) => measured(each, head));
  const others = told.length - MOST_METRICS;
  if (others > 0) details.push(`and ${others} more`);
  const main = ` · ${first}${besideNull(metrics[0], head)}`;
  const said = [strong(`${headTitle(head)}  `), words, main];
  return statusLine(said, details, more);
}

/** A row per head, in the order of the grid. */
export const headsTable = (
  rows: readonly Row[],
  { patterns }: Manifest,
  metrics: readonly Metric[],
): Table =>
  tableOf("Heads", allHeads(rows), () => [
    { name: "layer", of: ({ layer }) => layer.number },
    { name: "head", of: ({ head }) => head },
    ...(rows.some(({ layer }) => layer.partners) ? PARTNER : []),
    { name: "pattern", of: (each) => patterns.kinds[patternOf(patterns, each)] },
    ...metrics.map((metric) => ({
      name: metric.name,
      of: (each: Head) => metricValue(metric, each) ?? "",
    })),
  ]);

/** The layer and head of B. */
const PARTNER = ["layer_b", "head_b"].map((name, at) => ({
  name,
  of: (head: Head) => partnerOf(head)[at],
}));

/** The most rows of a table of metrics. */
const MOST_ROWS = 8;

/** A row per metric; those that are too many are counted. */
export function metricTable(metrics: readonly Metric[], head: Head): HTMLElement {
  const told = telling(metrics, head);
  const shown = told.length > MOST_ROWS ? MOST_ROWS - 1 : told.length;
  const rows = told
    .slice(0, shown)
    .map((metric) => [metric.label, inFull(metric, metricValue(metric, head))]);
  if (told.length > shown) rows.push([`and ${told.length - shown} more`, ""]);
  return el(
    "div",
    { class: "metrics" },
    ...rows.map((texts) => el("div", {}, ...texts.map((text) => el("span", {}, text)))),
  );
}
