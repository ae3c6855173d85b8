/** The numbers of a head, as the manifest has them, and how they are written. */

import { type Head, type Metric, metricValue } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { number } from "../../parts/text.ts";

/**
 * A value with its unit, and with the direction that its sign stands for. A number that is not zero
 * never looks like zero.
 */
export function inFull({ digits, unit, directions }: Metric, value: number | null): string {
  if (value === null) return "no value";
  const small = value > 0 && value < 0.5 * 10 ** -digits;
  const text = small ? `<${(10 ** -digits).toFixed(digits)}` : number(value, digits);
  const side = Number(value.toFixed(digits)) && directions?.[value < 0 ? 0 : 1];
  return `${text}${unit && ` ${unit}`}${side ? ` (${side})` : ""}`;
}

/** A value alone, in as few digits as a narrow column holds. */
export const briefly = ({ digits }: Metric, value: number | null): string =>
  value === null ? "–" : number(value, Math.min(digits, 2));

/** All numbers of one head. */
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
