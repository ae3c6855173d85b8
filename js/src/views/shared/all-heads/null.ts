/** The range of a metric in heads of a null, as random weights, and which heads lie outside of it. */

import { type Head, type Metric, metricValue } from "../../../data/manifest.ts";

export type Range = readonly [low: number, high: number];

/** The shares of the null's heads that lie below the range, and below its upper end. */
const ENDS = [0.025, 0.975] as const;

/** The range of 95% of the null's heads; null if there is no null, or it has no value. */
export function nullRange({ null: random }: Metric, heads: readonly Head[]): Range | null {
  if (!random) return null;
  const values = heads
    .map(({ layer, head }) => random.values.get(layer)?.[head] ?? null)
    .filter((value) => value !== null)
    .sort((a, b) => a - b);
  if (!values.length) return null;
  const [low, high] = ENDS.map((share) => quantile(values, share));
  return [low, high];
}

/** Linear between the values on either side. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

/** The side of the range on which a head lies; null within it, or without a value. */
export function sideOf(metric: Metric, head: Head, range: Range | null): "above" | "below" | null {
  const value = metricValue(metric, head);
  if (range === null || value === null) return null;
  return value < range[0] ? "below" : value > range[1] ? "above" : null;
}
