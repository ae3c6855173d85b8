/** The means of the rows and columns of the model view, as bars with their values. */

import { type Metric, metricValue } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { fontOf, textMeasure } from "../../parts/text.ts";
import type { Row } from "../shared/all-heads/heads.ts";
import { briefly, inFull } from "../shared/all-heads/words.ts";

export type Means = ReturnType<typeof meansOf>;

/** The means of each row and column, null for no value, and the metric with their digits. */
export function meansOf(rows: readonly Row[], metric: Metric) {
  const table = rows.map(({ layer, heads }) =>
    heads.map((head) => metricValue(metric, { layer, head })),
  );
  const longest = Math.max(...table.map((values) => values.length));
  const columns = Array.from({ length: longest }, (_, column) =>
    mean(table.filter((values) => column < values.length).map((values) => values[column])),
  );
  const rowMeans = table.map(mean);
  const largest = Math.max(...[...rowMeans, ...columns].map((value) => Math.abs(value ?? 0)));
  // Means of whole numbers have three significant digits.
  const digits = metric.digits || (largest && Math.max(0, 2 - Math.floor(Math.log10(largest))));
  return { metric: { ...metric, digits }, rows: rowMeans, columns };
}

function mean(values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null);
  return numbers.length ? numbers.reduce((a, b) => a + b, 0) / numbers.length : null;
}

/** The header of the means. */
export const meanName = ({ name, label, description }: Metric) =>
  el(
    "div",
    { class: "mean-name", "aria-hidden": "true", title: description || label },
    `mean\n${name.replaceAll("_", " ")}`,
  );

/** The mean in words, for screen readers. */
export const meanText = (metric: Metric, value: number | null) =>
  `mean ${metric.label} ${inFull(metric, value)}`;

/** The least space between two values, in CSS pixels. */
const BETWEEN_VALUES = 6;

/**
 * An element per mean.
 *
 * @param available width of a value in CSS pixels: if one is wider, all are left out
 */
export function meanBars(
  metric: Metric,
  means: readonly (number | null)[],
  available = Number.POSITIVE_INFINITY,
): HTMLElement[] {
  const values = means.map((value) => briefly(metric, value));
  const widest = Math.max(...values.map(textMeasure(fontOf(12))));
  const fit = widest + BETWEEN_VALUES <= available;
  const numbers = means.map((value) => value ?? 0);
  const bars = numbers.map(barsOn(numbers));
  return bars.map((bar, n) =>
    el("div", { class: "mean", "aria-hidden": "true" }, bar, fit ? values[n] : ""),
  );
}

/** The bar of each of these values: all start at zero, and share one scale. */
export function barsOn(values: readonly number[]): (value: number) => HTMLElement {
  const [lowest, highest] = [Math.min(0, ...values), Math.max(0, ...values)];
  const percent = (value: number) => `${(100 * value) / (highest - lowest || 1)}%`;
  return (value) => {
    const bar = el("span", { class: "bar", "aria-hidden": "true" }, el("i"));
    bar.style.setProperty("--from", percent(Math.min(0, value) - lowest));
    bar.style.setProperty("--length", percent(Math.abs(value)));
    return bar;
  };
}
