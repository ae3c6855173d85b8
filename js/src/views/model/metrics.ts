/** Formats the metrics of a head. */

import { type Head, type Metric, metricValue } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { number } from "../../parts/text.ts";

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

export function metricTable(metrics: readonly Metric[], head: Head): HTMLElement {
  const rows = metrics.map((metric) =>
    el(
      "div",
      {},
      el("span", {}, metric.label),
      el("span", {}, inFull(metric, metricValue(metric, head))),
    ),
  );
  return el("div", { class: "metrics" }, ...rows);
}
