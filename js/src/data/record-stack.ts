/** A stack of a record, whose numbers come from a kernel or a page. */

import type { ReadonlySignal } from "@preact/signals-core";
import { compiled } from "../kernels/compiled.ts";
import { bytesIn, valuesOf } from "./arrays.ts";
import { checked, combinedShapes, layerShapes, numbersShapes, textShapes } from "./check-block.ts";
import type { Block, PackedBlock } from "./codec.ts";
import { type Combined, combine } from "./combine.ts";
import type { Layer, RecordLayer } from "./layer.ts";
import { LayerData } from "./layer-data.ts";
import { type LayerInfo, type LensInfo, layerOf, type StackInfo } from "./manifest.ts";
import { RemoteLayer, type Rows } from "./remote-layer.ts";
import { Absent, type Delivery, type Loaded, type ResourceCache } from "./resource-cache.ts";
import { type LensNumbers, StackStore, type TextShares, type Thumbnails } from "./stack-store.ts";

/** The source of a stack's numbers. Rejects with a message for the reader; the store checks what comes. */
export interface StackSource {
  /**
   * Fetch the block of a layer, packed or not.
   *
   * @param signal aborted when the block is not needed any more
   */
  block(stack: string, layer: number, signal: AbortSignal): Promise<Block | PackedBlock>;
  /** Fetches single rows of a layer; null if only its block can be had. */
  rows?(stack: string, layer: number): Rows | null;
  /** Fetches all heads of all layers as one; only a kernel computes that. */
  readonly combined?: ((stack: string, signal: AbortSignal) => Promise<Block>) | null;
  /** Fetches what the rows of a running text attend to; null if they cannot be had. */
  readonly text?: ((stack: string, signal: AbortSignal) => Promise<Block | PackedBlock>) | null;
  /** Fetches the matrices of a lens in a layer; null if they cannot be had. */
  numbers?(
    stack: string,
    layer: number,
    lens: string,
  ): ((signal: AbortSignal) => Promise<Block | PackedBlock>) | null;
}

/** The largest change of a weight by rounding it to float16. */
const FLOAT16 = 2 ** -12;

/**
 * A layer with a larger block is fetched row by row, if the source can: decoded, it would fill the
 * budget alone. It is about memory; a kernel sends blocks of any size, in pieces if need be.
 */
export const LARGEST_BLOCK = 32 * 2 ** 20;

export class RecordStack extends StackStore {
  /**
   * @param lenses all of the record
   * @param seen is called when a layer is asked for, which comes into view
   */
  constructor(
    info: StackInfo,
    cache: ResourceCache,
    thumbnails: Thumbnails,
    private readonly lenses: readonly LensInfo[],
    private readonly source: StackSource,
    private readonly rows: ResourceCache,
    private readonly seen: (stack: RecordStack, layer: number) => void,
  ) {
    super(info, cache, thumbnails);
  }

  override layer(number: number): ReadonlySignal<Loaded<Layer>> {
    this.seen(this, number);
    return this.cache.get(this.#key(number), (signal) => this.#ask(number, signal));
  }

  /** Request a layer before it is watched. Returns false if it is here or requested already. */
  prefetch(number: number): boolean {
    return this.cache.fetch(this.#key(number), (signal) => this.#ask(number, signal));
  }

  override combined(): ReadonlySignal<Loaded<Combined>> {
    return this.cache.get(this.#key("combined"), async (signal) => {
      const asked = this.source.combined?.(this.info.name, signal);
      const data = asked
        ? await this.#readCombined(await asked)
        : await combine(this.info, this.#allLayers(signal));
      return { data, bytes: 3 * data.mean.byteLength };
    });
  }

  override text(): ReadonlySignal<Loaded<TextShares>> {
    return this.cache.get(this.#key("text"), async (signal) => {
      const { info, source } = this;
      if (!source.text) throw new Absent("The running text is not in this page.");
      const arrays = await checked(await source.text(info.name, signal), () =>
        textShapes(info, this.lenses),
      );
      const by = (of: string) => ({
        mean: valuesOf(arrays, `mean${of}`),
        shares: valuesOf(arrays, `shares${of}`).map((level) => ((level + 128) / 255) ** 2),
      });
      const lenses = this.lenses.filter(({ name }) => arrays.has(`mean ${name}`));
      const ofLenses = new Map(lenses.map(({ name }) => [name, by(` ${name}`)]));
      const data = { ...by(""), sinks: valuesOf(arrays, "sinks"), ofLenses };
      return { data, bytes: bytesIn(arrays) };
    });
  }

  override hasNumbers(layer: number, { name }: LensInfo): boolean {
    return Boolean(this.source.numbers?.(this.info.name, layer, name));
  }

  override numbers(layer: number, lens: LensInfo): ReadonlySignal<Loaded<readonly LensNumbers[]>> {
    return this.cache.get(this.#key(`${layer}.${lens.name}`), async (signal) => {
      const { info } = this;
      const ask = this.source.numbers?.(info.name, layer, lens.name);
      if (!ask) throw new Absent(`${lens.label} of layer ${layer} is not in this page.`);
      const shapes = numbersShapes(info, layerOf(info, layer), lens);
      const arrays = await checked(await ask(signal), () => shapes);
      const [values, steps] = ["numbers", "steps"].map((name) => valuesOf(arrays, name));
      const size = info.queries.labels.length * info.keys.labels.length;
      // Copies, because a part that is sent to the worker would take all of them along.
      const matrices = Array.from(steps, (step, at) =>
        values.slice(at * size, (at + 1) * size).map((integer) => integer * step),
      );
      const rounding = Array.from(steps, (step) => step / 2);
      return { data: [{ matrices, rounding }], bytes: values.byteLength };
    });
  }

  override async headRows(
    number: number,
    query: number,
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const layer = layerOf(this.info, number);
    const remote = this.#remote(layer);
    if (remote) return remote.weights(query, signal);
    const { data } = await this.#ask(number, signal);
    return Array.from({ length: layer.heads }, (_, head) => data.weightRow(head, query));
  }

  override async fetch(number: number, signal: AbortSignal): Promise<RecordLayer | null> {
    try {
      return (await this.#ask(number, signal)).data;
    } catch (error) {
      if (error instanceof Absent) return null;
      throw error;
    }
  }

  #key(of: number | string): string {
    return `${this.info.name}.${of}`;
  }

  async #ask(number: number, signal: AbortSignal): Promise<Delivery<RecordLayer>> {
    const { info, source } = this;
    const layer = layerOf(info, number);
    const remote = layer.bytes > LARGEST_BLOCK ? this.#remote(layer) : null;
    if (remote) return { data: remote, bytes: 0 };
    // A layer keeps the kernels that it was created with.
    const [sent] = await Promise.all([source.block(info.name, number, signal), compiled()]);
    const arrays = await checked(sent, (parts) => layerShapes(info, layer, this.lenses, parts));
    return { data: new LayerData(info, layer, arrays, sent.error), bytes: bytesIn(arrays) };
  }

  /** The layer row by row; null if only its block can be had. */
  #remote(layer: LayerInfo): RemoteLayer | null {
    const { info, source } = this;
    const rows = source.rows?.(info.name, layer.number);
    const thumbnailOf = (head: number) => this.thumbnail(layer.number, head);
    return rows ? new RemoteLayer(info, layer, thumbnailOf, rows, this.rows) : null;
  }

  async #readCombined(sent: Block): Promise<Combined> {
    const arrays = await checked(sent, () => combinedShapes(this.info));
    const [mean, max, head] = ["mean", "max", "head"].map((name) => valuesOf(arrays, name));
    const rows = new Float32Array(this.info.queries.labels.length).fill(FLOAT16);
    return { mean, max, head, rounding: FLOAT16, rowRounding: { mean: rows, max: rows } };
  }

  async *#allLayers(signal: AbortSignal): AsyncIterable<LayerData> {
    for (const { number } of this.info.layers) {
      signal.throwIfAborted();
      const { data } = await this.#ask(number, signal);
      if (!data.whole) throw new Error(`Layer ${number} is too large for that.`);
      yield data.whole;
    }
  }
}
