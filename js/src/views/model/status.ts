/** The model view in words and numbers. */

import {
  type Head,
  type Manifest,
  type Metric,
  metricValue,
  type Patterns,
  type StackInfo,
} from "../../data/manifest.ts";
import type { Table } from "../../parts/table.ts";
import { type Phrase, strong } from "../../parts/text.ts";
import { inFull } from "./metrics.ts";
import { allHeads, type Row } from "./order.ts";
import { described, patternOf } from "./patterns.ts";

/** As the status line and the preview call a head. */
export const headTitle = ({ layer, head }: Head) => `Layer ${layer.number} · Head ${head}`;

/** As the accessibility tree calls it. */
export const headName = ({ layer, head }: Head) => `Layer ${layer.number}, head ${head}`;

/** @param metric the one in use: it comes first, where there is room. */
export function statusOf(
  head: Head,
  patterns: Patterns,
  metric: Metric,
  metrics: readonly Metric[],
): Phrase {
  const numbers = [metric, ...metrics.filter((other) => other !== metric)].map(
    (metric) => ` · ${metric.name} ${inFull(metric, metricValue(metric, head))}`,
  );
  return [strong(`${headTitle(head)}  `), described(patterns, head), ...numbers];
}

/** Which part of a very long text all this is about; "" where it is about the whole. */
export function sampledText({ sampled, queries }: StackInfo): string {
  if (sampled === null) return "";
  const [some, all] = [sampled, queries.labels.length].map((count) => count.toLocaleString("en"));
  return `pictures and numbers from ${some} of ${all} queries`;
}

/** The pattern of a head and its metric, for those who do not see its colour and place. */
export function description(head: Head, patterns: Patterns, metric: Metric): string {
  const value = inFull(metric, metricValue(metric, head));
  return `${described(patterns, head)}, ${metric.label} ${value}`;
}

/** A line per head shown, in the order in which they are shown. */
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
