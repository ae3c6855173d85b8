/** The status line, labels and table of the model view. */

import {
  type Head,
  type Manifest,
  type Metric,
  metricValue,
  type Patterns,
  type StackInfo,
} from "../../../data/manifest.ts";
import { el } from "../../../parts/dom.ts";
import type { Table } from "../../../parts/table.ts";
import { detail, number, type Phrase, strong } from "../../../parts/text.ts";
import { allHeads, type Row } from "./order.ts";
import { described, patternOf } from "./patterns.ts";

/** The name of a head in the status line and the preview. */
export const headTitle = ({ layer, head }: Head) => `Layer ${layer.number} · Head ${head}`;

/** The accessible name of a head. */
export const headName = ({ layer, head }: Head) => `Layer ${layer.number}, head ${head}`;

/** The most metrics of a status line; a profile has many more. */
const MOST_METRICS = 12;

/** @param metrics in the order in which they are named */
export function statusOf(head: Head, patterns: Patterns, metrics: readonly Metric[]): Phrase {
  const [first = "", ...others] = metrics
    .slice(0, MOST_METRICS)
    .map((metric) => ` · ${measured(metric, head)}`);
  const more = metrics.length - MOST_METRICS;
  if (more > 0) others.push(` · and ${more} more`);
  return [
    strong(`${headTitle(head)}  `),
    described(patterns, head),
    first,
    detail(others.join("")),
  ];
}

/** The texts or the queries that thumbnails and metrics are computed from; "" for all of this text. */
export function sampledText({ sampled, queries }: StackInfo, { texts }: Manifest): string {
  if (texts !== null) return `means of ${texts.toLocaleString("en")} texts`;
  if (sampled === null) return "";
  const [some, all] = [sampled, queries.labels.length].map((count) => count.toLocaleString("en"));
  return `pictures and numbers from ${some} of ${all} queries`;
}

/** The pattern and the metric of a head, for screen readers. */
export const description = (head: Head, patterns: Patterns, metric: Metric): string =>
  `${described(patterns, head)}, ${measured(metric, head)}`;

/** "entropy 1.23 nats" */
export const measured = (metric: Metric, head: Head): string =>
  `${metric.label} ${inFull(metric, metricValue(metric, head))}`;

/** A row per head, in the order of the grid. */
export function headsTable(
  rows: readonly Row[],
  { patterns }: Manifest,
  metrics: readonly Metric[],
): Table {
  return {
    name: "Heads",
    rows: () => [
      ["layer", "head", "pattern", ...metrics.map(({ name }) => name)],
      ...allHeads(rows).map((each) => [
        each.layer.number,
        each.head,
        patterns.kinds[patternOf(patterns, each)].label,
        ...metrics.map((metric) => metricValue(metric, each) ?? ""),
      ]),
    ],
  };
}

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

/** The most rows of a table of metrics. */
const MOST_ROWS = 8;

/** A row per metric; those that are too many are counted. */
export function metricTable(metrics: readonly Metric[], head: Head): HTMLElement {
  const shown = metrics.length > MOST_ROWS ? MOST_ROWS - 1 : metrics.length;
  const rows = metrics
    .slice(0, shown)
    .map((metric) => [metric.label, inFull(metric, metricValue(metric, head))]);
  if (metrics.length > shown) rows.push([`and ${metrics.length - shown} more`, ""]);
  return el(
    "div",
    { class: "metrics" },
    ...rows.map((texts) => el("div", {}, ...texts.map((text) => el("span", {}, text)))),
  );
}
