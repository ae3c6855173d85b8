/** The places of heads on the map, by two metrics or by similarity, and those of a null. */

import { middleRange, type Range } from "../../basics/extremes.ts";
import {
  type Head,
  type Metric,
  metricValue,
  type Position,
  type Similarity,
  type StackInfo,
} from "../../data/manifest.ts";
import { SIMILARITY } from "../../state/choices.ts";

export type Placing = ReturnType<typeof placingOf>;

/**
 * @param metrics those of the stack
 * @param x the choices: a metric that the stack does not have is replaced by its first other one
 * @param similarity null if the stack has none
 */
export function placingOf(
  metrics: readonly Metric[],
  x: string,
  y: string,
  similarity: Similarity | null,
) {
  if (x !== SIMILARITY || !similarity) return placedByMetrics(metrics, x, y);
  const { label, kept } = similarity;
  const share = kept === null ? "" : `; two dimensions show ${Math.round(100 * kept)}% of it`;
  return {
    axes: null,
    nullLabel: null,
    /** The meaning of two points being near each other; "" for places by metrics. */
    note: `near heads are alike: ${label}${share}`,
    placeOf: ({ layer, head }: Head) => similarity.places.get(layer)?.[head] ?? null,
    nullPlaceOf: () => null,
  };
}

function placedByMetrics(metrics: readonly Metric[], x: string, y: string) {
  const chosen = (name: string) => metrics.find((metric) => metric.name === name);
  const other = (metric?: Metric) => metrics.find((each) => each !== metric) ?? metrics[0];
  const across = chosen(x) ?? other(chosen(y));
  const up = chosen(y) ?? other(across);
  const both = (value: (metric: Metric) => number | null): Position | null => {
    const [first, second] = [value(across), value(up)];
    return first === null || second === null ? null : [first, second];
  };
  const hasNull = across.null && up.null;
  return {
    axes: [across, up] as const,
    /** The name of the null, as "random weights"; null if there is none. */
    nullLabel: across.null?.label ?? up.null?.label ?? null,
    note: "",
    /** The place of a head, and of the null's; null if it has no value. */
    placeOf: (head: Head) => both((metric) => metricValue(metric, head)),
    nullPlaceOf: ({ layer, head }: Head) =>
      hasNull ? both((metric) => metric.null?.values.get(layer)?.[head] ?? null) : null,
  };
}

/** The similarity of heads, if it is known of this stack. */
export const similarityOf = (similarity: Similarity | null, { layers }: StackInfo) =>
  similarity?.places.has(layers[0]) ? similarity : null;

/** The range of 95% of the null's heads; null if there is no null, or it has no value. */
export function nullRange({ null: random }: Metric, heads: readonly Head[]): Range | null {
  if (!random) return null;
  const values = heads
    .map(({ layer, head }) => random.values.get(layer)?.[head] ?? null)
    .filter((value) => value !== null);
  return middleRange(values);
}
