/** The status line, labels and table of the model view. */

import {
  type Head,
  type Manifest,
  type Metric,
  metricValue,
  type Patterns,
  type StackInfo,
} from "../../../data/manifest.ts";
import type { Table } from "../../../parts/table.ts";
import { detail, type Phrase, strong } from "../../../parts/text.ts";
import { inFull } from "./metrics.ts";
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
    .map((metric) => ` · ${metric.label} ${inFull(metric, metricValue(metric, head))}`);
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
export function description(head: Head, patterns: Patterns, metric: Metric): string {
  const value = inFull(metric, metricValue(metric, head));
  return `${described(patterns, head)}, ${metric.label} ${value}`;
}

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
