/** The difference of two stacks: the numbers of B less those of A, and so of their metrics. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import type { Combined } from "./combine.ts";
import { DifferenceLayer, type Layer, type RecordLayer } from "./layer.ts";
import {
  ATTENTION,
  type ByHead,
  type ComparedStack,
  type LayerInfo,
  type LensInfo,
  type Metric,
  type StackInfo,
} from "./manifest.ts";
import type { Loaded, ResourceCache } from "./resource-cache.ts";
import { type LensNumbers, StackStore, type Thumbnails } from "./stack-store.ts";

export class DifferenceStack extends StackStore {
  constructor(
    info: StackInfo,
    cache: ResourceCache,
    thumbnails: Thumbnails,
    private readonly a: StackStore,
    private readonly b: StackStore,
  ) {
    super(info, cache, thumbnails);
  }

  override layer(number: number): ReadonlySignal<Loaded<Layer>> {
    return this.#joined(
      (side) => side.layer(number),
      (a, b): Layer => this.#layer(number, a, b),
    );
  }

  override combined(): ReadonlySignal<Loaded<Combined>> {
    return this.#joined((side) => side.combined(), differenceOfMeans);
  }

  override text(): ReadonlySignal<Loaded<never>> {
    const message = "The running text is shown of A or of B: choose one of them.";
    return signal({ status: "failed", message, absent: true });
  }

  override hasNumbers(layer: number, lens: LensInfo): boolean {
    return this.a.hasNumbers(layer, lens) && this.b.hasNumbers(layer, lens);
  }

  override numbers(layer: number, lens: LensInfo): ReadonlySignal<Loaded<readonly LensNumbers[]>> {
    return this.#joined(
      (side) => side.numbers(layer, lens),
      (a, b) => [...a, ...b],
    );
  }

  override async headRows(...of: Parameters<StackStore["headRows"]>): Promise<Float32Array[]> {
    const [a, b] = [await this.a.headRows(...of), await this.b.headRows(...of)];
    return b.map((row, head) => row.map((weight, key) => weight - a[head][key]));
  }

  override async fetch(number: number, signal: AbortSignal): Promise<Layer | null> {
    const a = await this.a.fetch(number, signal);
    const b = a && (await this.b.fetch(number, signal));
    return b && this.#layer(number, a, b);
  }

  #layer(number: number, ...sides: [a: Layer, b: Layer]): DifferenceLayer {
    const at = this.info.layers.findIndex((layer) => layer.number === number);
    return new DifferenceLayer(
      this.info,
      this.info.layers[at],
      sides as [RecordLayer, RecordLayer],
      (head) => {
        const found = this.thumbnails?.get(ATTENTION.name)?.[at]?.[head];
        if (!found) throw new Error("This comparison has no thumbnails.");
        return found;
      },
    );
  }

  /** Join the answers of both sides; or the error of either. */
  #joined<Data, Result>(
    ask: (side: StackStore) => ReadonlySignal<Loaded<Data>>,
    join: (a: Data, b: Data) => Result,
  ): ReadonlySignal<Loaded<Result>> {
    // A is asked last, so that its neighbours are prefetched.
    const [b, a] = [ask(this.b), ask(this.a)];
    return computed(() => {
      const [own, other] = [a.value, b.value];
      if (own.status === "failed") return own;
      if (other.status === "failed") return other;
      if (own.status === "loading") return own;
      if (other.status === "loading") return other;
      return { status: "ready", data: join(own.data, other.data) };
    });
  }
}

/** B − A of the mean of all heads; there is none of their maxima. */
const differenceOfMeans = (a: Combined, b: Combined): Combined => ({
  ...a,
  mean: b.mean.map((weight, at) => weight - a.mean[at]),
  rounding: a.rounding + b.rounding,
  rowRounding: {
    ...a.rowRounding,
    mean: a.rowRounding.mean.map((error, at) => error + b.rowRounding.mean[at]),
  },
});

/** A metric of a comparison, as the share of attention that moves, for the heads of the difference. */
export function onDifference(metric: Metric, pair: ComparedStack): Metric {
  const { values, null: random, interval } = metric;
  const moved = <Value>(of: ByHead<Value>) => onLayers(pair, (a) => of.get(a));
  return {
    ...metric,
    values: moved(values),
    null: random && { ...random, values: moved(random.values) },
    interval: interval && { low: moved(interval.low), high: moved(interval.high) },
  };
}

/** B − A of a metric of either record. */
export function differenceOf(metric: Metric, pair: ComparedStack): Metric {
  const values = onLayers(pair, (a, b) => {
    const [before, after] = [metric.values.get(a), metric.values.get(b)];
    return (
      after &&
      before?.map((value, head) => {
        const other = after[head];
        return value === null || other === null ? null : other - value;
      })
    );
  });
  const label = `${metric.label}, B − A`;
  return { ...metric, label, signed: true, directions: null, values, null: null, interval: null };
}

/** Values for the layers of a difference, of those that have some. */
const onLayers = <Value>(
  { a, b, difference }: ComparedStack,
  valuesOf: (a: LayerInfo, b: LayerInfo) => readonly Value[] | undefined,
): ByHead<Value> =>
  new Map(
    difference.layers.flatMap((layer, at) => {
      const values = valuesOf(a.layers[at], b.layers[at]);
      return values ? [[layer, values] as const] : [];
    }),
  );
