/** Metrics of the difference of two records. */

import type { ByHead, ComparedStack, Metric } from "./manifest.ts";

/** A metric of a comparison, as the share of attention that moves, for the heads of the difference. */
export function onDifference(metric: Metric, pair: ComparedStack): Metric {
  const { values, null: random, interval } = metric;
  return {
    ...metric,
    values: moved(values, pair),
    null: random && { ...random, values: moved(random.values, pair) },
    interval: interval && { low: moved(interval.low, pair), high: moved(interval.high, pair) },
  };
}

/** B − A of a metric of either record. */
export function differenceOf(metric: Metric, { a, b, difference }: ComparedStack): Metric {
  const values = difference.layers.flatMap((layer, at) => {
    const [before, after] = [metric.values.get(a.layers[at]), metric.values.get(b.layers[at])];
    if (!before || !after) return [];
    const differences = before.map((value, head) => {
      const other = after[head];
      return value === null || other === null ? null : other - value;
    });
    return [[layer, differences] as const];
  });
  return {
    ...metric,
    label: `${metric.label}, B − A`,
    signed: true,
    directions: null,
    values: new Map(values),
    null: null,
    interval: null,
  };
}

function moved<Value>(values: ByHead<Value>, { a, difference }: ComparedStack): ByHead<Value> {
  const entries = difference.layers.map((layer, at) => [layer, values.get(a.layers[at])] as const);
  return new Map(
    entries.filter((entry): entry is [(typeof entry)[0], readonly Value[]] => !!entry[1]),
  );
}
