/** Means over the rows and columns of the model view, as bars with their value. */

import type { Measure } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { textMeasure } from "../../parts/text.ts";
import { briefly, longName, measured } from "./measures.ts";
import type { Row } from "./order.ts";

export interface Means {
  readonly measure: Measure;
  readonly rows: readonly number[];
  readonly columns: readonly number[];
}

export function meansOf(rows: readonly Row[], measure: Measure): Means {
  const table = rows.map(({ layer, heads }) => heads.map((head) => layer.measures[measure][head]));
  const longest = Math.max(...table.map((values) => values.length));
  const columns = Array.from({ length: longest }, (_, column) =>
    mean(table.filter((values) => column < values.length).map((values) => values[column])),
  );
  return { measure, rows: table.map(mean), columns };
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

/** What stands above or beside the means. */
export const meanName = (measure: Measure) => `mean ${measure}`;

/** For those who do not see the bar. */
export const meanText = (measure: Measure, value: number) =>
  `mean ${longName(measure).replace("mean ", "")} ${measured(measure, value)}`;

/** As wide as a letter, so that two values beside each other stay two. */
const BETWEEN_VALUES = 6;

/**
 * One element per mean; bars start at zero and share one scale.
 * @param room in CSS pixels: values that are wider are left out, all of them.
 */
export function meanBars(
  measure: Measure,
  means: readonly number[],
  room = Number.POSITIVE_INFINITY,
): HTMLElement[] {
  const values = means.map((value) => briefly(measure, value));
  const widest = Math.max(...values.map(textMeasure("12px system-ui, sans-serif")));
  const fit = widest + BETWEEN_VALUES <= room;
  const [lowest, highest] = [Math.min(0, ...means), Math.max(0, ...means)];
  const percent = (value: number) => `${(100 * value) / (highest - lowest || 1)}%`;
  return means.map((value, n) => {
    const bar = el("span", { class: "bar" }, el("i"));
    bar.style.setProperty("--from", percent(Math.min(0, value) - lowest));
    bar.style.setProperty("--length", percent(Math.abs(value)));
    return el("div", { class: "mean", "aria-hidden": "true" }, bar, fit ? values[n] : "");
  });
}
