/** The table of a head's numbers, with the null's range beside them. */

import type { ReadonlySignal } from "@preact/signals-core";
import { type Head, type Metric, metricValue } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { number } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Range } from "../shared/all-heads/null.ts";

export interface MeasuresOptions {
  readonly focused: ReadonlySignal<Head>;
  /** In the order of the rows. */
  readonly metrics: readonly Metric[];
  /** The null's range of each; null if it is not known. */
  readonly ranges: ReadonlyMap<Metric, Range | null>;
  /** The name of the null, as "random weights"; "" for none. */
  readonly nullLabel: string;
}

/** The most rows; metrics that are too many are counted. */
const MOST_ROWS = 9;

export function measures(scope: Scope, options: MeasuresOptions): HTMLElement {
  const { focused, metrics, ranges, nullLabel } = options;
  const shown = metrics.length > MOST_ROWS ? metrics.slice(0, MOST_ROWS - 1) : metrics;
  const hasInterval = shown.some(({ interval }) => interval);
  const hasNull = nullLabel !== "" && shown.some((metric) => ranges.get(metric));
  const rows = shown.map((metric) => {
    const range = ranges.get(metric);
    const [value, interval] = [el("td", {}), el("td", { class: "range" })];
    const title = metric.description || undefined;
    const name = metric.unit ? `${metric.label}, ${metric.unit}` : metric.label;
    const row = el(
      "tr",
      {},
      el("th", { scope: "row", title }, name),
      value,
      ...(hasInterval ? [interval] : []),
      ...(hasNull
        ? [el("td", { class: "range" }, range ? between(metric, range[0], range[1]) : "")]
        : []),
    );
    return { metric, row, value, interval };
  });
  scope.effect(() => {
    const { layer, head } = focused.value;
    for (const { metric, value, interval } of rows) {
      const own = metricValue(metric, focused.value);
      value.textContent = own === null ? "–" : number(own, metric.digits);
      const [low, high] = (["low", "high"] as const).map(
        (end) => metric.interval?.[end].get(layer)?.[head] ?? null,
      );
      interval.textContent = low === null || high === null ? "" : between(metric, low, high);
    }
  });
  const columns = ["", "head", hasInterval && "interval", hasNull && `${nullLabel}, 95%`];
  const header = columns
    .filter((column) => column !== false)
    .map((column, at) =>
      el(column ? "th" : "td", column ? { scope: "col", class: at > 1 && "range" } : {}, column),
    );
  const more = metrics.length - shown.length;
  return el(
    "table",
    { "aria-label": hasNull ? `Measures, with the 95% range of ${nullLabel}` : "Measures" },
    el("thead", {}, el("tr", {}, ...header)),
    el("tbody", {}, ...rows.map(({ row }) => row)),
    ...(more ? [el("caption", {}, `and ${more} more, all of them in Copy`)] : []),
  );
}

const between = ({ digits }: Metric, low: number, high: number) =>
  `${number(low, digits)} … ${number(high, digits)}`;
