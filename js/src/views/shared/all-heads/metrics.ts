/** Formats the metrics of a head. */

import { type Head, type Metric, metricValue } from "../../../data/manifest.ts";
import { el } from "../../../parts/dom.ts";
import { number } from "../../../parts/text.ts";

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
