/** The heads as the map shows them: their places, by two metrics or by similarity, and the null's. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { middleRange, type Range } from "../../basics/extremes.ts";
import {
  type Head,
  type Metric,
  metricValue,
  type Position,
  type Similarity,
} from "../../data/manifest.ts";
import { counted } from "../../parts/text.ts";
import { SIMILARITY } from "../../state/choices.ts";
import { allHeads, metricNamed, rowsOf } from "../shared/all-heads/heads.ts";
import { pairMetric } from "../shared/all-heads/pair.ts";
import { headsView } from "../shared/all-heads/view.ts";
import type { Context } from "../shared/view.ts";

export type MapHeads = ReturnType<typeof mapHeads>;

/** The head that is looked at, and its surroundings. */
export interface Looked {
  readonly context: Context;
  readonly map: MapHeads;
  readonly focused: ReadonlySignal<Head>;
  /** The metrics, those that the map shows first. */
  readonly metrics: readonly Metric[];
}

/** What is said beside the name of a part of the detail, and its content. */
export type Part = readonly [said: readonly (string | Node)[], content: HTMLElement];

export function mapHeads(context: Context) {
  const { state, store } = context;
  const { stack, metrics } = state.shown;
  const similarity = computed(() => {
    const known = state.similarity.value;
    return known?.places.has(stack.value.layers[0]) ? known : null;
  });
  const placing = computed(() =>
    placingOf(metrics.value, state.map_x.value, state.map_y.value, similarity.value),
  );
  const size = computed(() => metricNamed(state, state.map_size.value));
  const rows = computed(() => rowsOf(stack.value, null));
  const heads = computed(() => allHeads(rows.value));
  const pair = pairMetric(state, store, false);
  /** The metrics that the map shows. */
  const inUse = computed<readonly Metric[]>(() => {
    const color = metricNamed(state, state.color.value, pair.value.metric);
    const chosen = [...(placing.value.axes ?? []), size.value, color];
    const used = new Set(chosen.filter((metric) => metric !== null));
    return used.size ? [...used] : metrics.value.slice(0, 2);
  });
  /** The null's range of each metric; null if it is not known. */
  const ranges = computed(
    () => new Map(metrics.value.map((metric) => [metric, nullRange(metric, heads.value)])),
  );
  const rangeOf = (metric: Metric): Range | null => ranges.value.get(metric) ?? null;
  /** The side of the null's range on which a head lies; null within it, or without a value. */
  const sideOf = (metric: Metric, head: Head): "above" | "below" | null => {
    const [value, range] = [metricValue(metric, head), rangeOf(metric)];
    if (range === null || value === null) return null;
    return value < range[0] ? "below" : value > range[1] ? "above" : null;
  };
  return {
    ...headsView(context, "map", rows, pair),
    heads,
    similarity,
    placing,
    size,
    inUse,
    rangeOf,
    /** The short names of the heads that the reader has marked; null for none. */
    marked: signal<ReadonlySet<string> | null>(null),
    /** The metrics in which a head lies outside of the null, in words; "" for none. */
    outsideOf(head: Head): string {
      const outside = inUse.value.filter((metric) => sideOf(metric, head));
      const said = outside.map((metric) => `${metric.label} (${sideOf(metric, head)})`);
      return said.length ? `outside ${outside[0].null?.label} in ${said.join(", ")}` : "";
    },
    /** "outside random weights, of 72 heads: 3 above, 18 below by entropy"; "" without a null. */
    outsideCounts(): string {
      const { axes, nullLabel } = placing.value;
      const counts = (axes ?? []).filter(rangeOf).map((metric) => {
        const sides = heads.value.map((head) => sideOf(metric, head));
        const [above, below] = (["above", "below"] as const).map(
          (side) => sides.filter((each) => each === side).length,
        );
        return `${above} above, ${below} below by ${metric.label}`;
      });
      if (!counts.length) return "";
      return `outside ${nullLabel}, of ${counted(heads.value.length, "head")}: ${counts.join("; ")}`;
    },
  };
}

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
  return {
    axes: [across, up] as const,
    /** The name of the null, as "random weights"; null if there is none. */
    nullLabel: across.null?.label ?? up.null?.label ?? null,
    note: "",
    /** The place of a head, and of the null's; null if it has no value. */
    placeOf: (head: Head) => both((metric) => metricValue(metric, head)),
    nullPlaceOf: (head: Head) => both(({ null: random }) => random && metricValue(random, head)),
  };
}

/** The range of 95% of the null's heads; null if there is no null, or it has no value. */
export function nullRange({ null: random }: Metric, heads: readonly Head[]): Range | null {
  if (!random) return null;
  const values = heads.map((head) => metricValue(random, head));
  return middleRange(values.filter((value) => value !== null));
}
