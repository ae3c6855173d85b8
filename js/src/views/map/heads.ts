/** The heads as the map shows them: their places, and which lie outside of a null. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import type { Range } from "../../basics/extremes.ts";
import { type Head, type Metric, metricValue } from "../../data/manifest.ts";
import { counted } from "../../parts/text.ts";
import { allHeads, metricNamed, rowsOf } from "../shared/all-heads/heads.ts";
import { pairMetric } from "../shared/all-heads/pair.ts";
import { headsView } from "../shared/all-heads/view.ts";
import type { Context } from "../shared/view.ts";
import { nullRange, placingOf, similarityOf } from "./placing.ts";

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
  const similarity = computed(() => similarityOf(state.similarity.value, stack.value));
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
