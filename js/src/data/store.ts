/** The record, as far as it has arrived: manifest and thumbnails at once, layers when wanted. */

import type { ReadonlySignal } from "@preact/signals-core";
import { compiled } from "../kernels/compile.ts";
import { bytesIn } from "./arrays.ts";
import { checkNumbers, checkParts, combinedShapes, layerShapes } from "./check-block.ts";
import { type Block, decodeBlock, decodeOverview, type Thumbnail } from "./codec.ts";
import { type Combined, combine } from "./combine.ts";
import type { Layer } from "./layer.ts";
import { LayerData } from "./layer-data.ts";
import { type LayerInfo, layerOf, type Manifest, type StackInfo } from "./manifest.ts";
import { type PackedBlock, unpack } from "./packed.ts";
import { RemoteLayer, type RowCache, type Rows } from "./remote-layer.ts";
import { type Delivery, type Loaded, ResourceCache } from "./resource-cache.ts";

/** The source of layers: a kernel, or the page itself. */
export interface Source {
  /**
   * The block of the layer of this number, or its packed form. The store checks it. Rejects with a
   * message for the reader.
   *
   * @param signal aborted when nobody wants it any more.
   */
  block(stack: string, layer: number, signal: AbortSignal): Promise<Block | PackedBlock>;
  /** Single rows of a layer; null where only its block can be had. */
  rows?(stack: string, layer: number): Rows | null;
  /** The mean and the maximum of every head of every layer; a kernel alone computes them. */
  readonly combined?: ((stack: string, signal: AbortSignal) => Promise<Block>) | null;
}

/** The largest change of a weight that is sent as float16. */
const FLOAT16 = 2 ** -12;

/** Room for the decoded arrays of layers, in bytes. */
export const BUDGET = 64 * 2 ** 20;

/** Room for the rows and columns of layers that do not come as a whole, in bytes. */
const ROWS_BUDGET = 32 * 2 ** 20;

/** A layer whose block has more bytes is not sent as a whole, if there is another way. */
export const LARGEST_BLOCK = 32 * 2 ** 20;

/** The delay of prefetching in browsers that do not report when they are idle. */
const IDLE_MS = 200;

const whenIdle: (work: () => void) => void =
  typeof requestIdleCallback === "function"
    ? (work) => requestIdleCallback(work, { timeout: 2000 })
    : (work) => setTimeout(work, IDLE_MS);

/** Layers that are likely to be wanted next. */
interface Near {
  readonly stack: string;
  readonly number: number;
  /** Those not yet prefetched, and the bytes of the others. */
  readonly layers: LayerInfo[];
  bytes: number;
}

export class Store {
  readonly #cache = new ResourceCache<Layer | Combined>(BUDGET, () => this.#planPrefetch());
  readonly #rows: RowCache = new ResourceCache(ROWS_BUDGET);
  readonly #thumbnails: Thumbnail[][][];
  /** The neighbours of the layer asked for last, which is the one in view. */
  #near: Near | null = null;
  #planned = false;

  /** @param overview null where nothing asks for thumbnails. */
  constructor(
    readonly manifest: Manifest,
    overview: Uint8Array | null,
    private readonly source: Source,
  ) {
    this.#thumbnails = overview ? decodeOverview(manifest, overview) : [];
    void compiled(); // while the first layer is on its way
  }

  /** True where a kernel answers. */
  get live(): boolean {
    return Boolean(this.source.combined);
  }

  stack(name: string): StackInfo {
    return this.manifest.stacks[this.#stackIndex(name)];
  }

  thumbnail(stack: string, layer: number, head: number): Thumbnail {
    const { layers } = this.stack(stack);
    const index = layers.findIndex(({ number }) => number === layer);
    return this.#thumbnails[this.#stackIndex(stack)][index][head];
  }

  /** The layer of this number: asked for while it is watched, unless it is there. */
  layer(stack: string, layer: number): ReadonlySignal<Loaded<Layer>> {
    if (this.#near?.stack !== stack || this.#near.number !== layer) {
      this.#near = { stack, number: layer, layers: this.#neighbours(stack, layer), bytes: 0 };
    }
    return this.#cache.get(keyOf(stack, layer), (signal) => this.#askLayer(stack, layer, signal));
  }

  /** The combination of all layers of a stack, asked for likewise. */
  combined(stack: string): ReadonlySignal<Loaded<Combined>> {
    return this.#cache.get(stack, async (signal) => {
      const asked = this.source.combined?.(stack, signal);
      const data = asked
        ? this.#readCombined(stack, await asked)
        : await combine(this.stack(stack), this.#allLayers(stack, signal));
      return { data, bytes: data.mean.byteLength + data.max.byteLength };
    });
  }

  /** Ask again for what failed, because the source has changed. */
  retry(): void {
    this.#cache.retry();
  }

  /** Ask once more for the blocks that have not come. */
  again(): void {
    this.#cache.again();
  }

  async #askLayer(name: string, layer: number, signal: AbortSignal): Promise<Delivery<Layer>> {
    const stack = this.stack(name);
    const info = layerOf(stack, layer);
    const rows = info.bytes > LARGEST_BLOCK ? this.source.rows?.(name, layer) : null;
    if (rows) {
      const thumbnails = Array.from({ length: info.heads }, (_, head) =>
        this.thumbnail(name, info.number, head),
      );
      return { data: new RemoteLayer(stack, info, thumbnails, rows, this.#rows), bytes: 0 };
    }
    // A layer keeps the kernels that it was created with.
    const [sent] = await Promise.all([this.source.block(name, layer, signal), compiled()]);
    checkParts(sent.parts, sent.error, layerShapes(stack, info, sent.parts));
    const block = "data" in sent ? await unpack(sent) : sent;
    const arrays = decodeBlock(block);
    checkNumbers(arrays);
    return { data: new LayerData(stack, info, arrays, block.error), bytes: bytesIn(arrays) };
  }

  /** The next and the previous layer, as far as the stack goes. */
  #neighbours(name: string, number: number): LayerInfo[] {
    const { layers } = this.stack(name);
    const at = layers.findIndex((layer) => layer.number === number);
    return [layers[at + 1], layers[at - 1]].filter((layer) => layer !== undefined);
  }

  #planPrefetch(): void {
    if (this.#planned) return;
    this.#planned = true;
    whenIdle(() => {
      this.#planned = false;
      this.#prefetch();
    });
  }

  /** Ask for one layer beside the one in view. What it brings calls for the other. */
  #prefetch(): void {
    const near = this.#near;
    if (!near || this.#cache.waiting) return;
    if (this.layer(near.stack, near.number).peek().status !== "ready") return;
    for (let next = near.layers.shift(); next; next = near.layers.shift()) {
      const { number, bytes } = next;
      // Numbers of 16 bits become numbers of 32.
      const room = BUDGET - this.#cache.held - near.bytes;
      if (bytes > LARGEST_BLOCK || 2 * bytes > room) continue;
      near.bytes += 2 * bytes;
      const asked = this.#cache.fetch(keyOf(near.stack, number), (signal) =>
        this.#askLayer(near.stack, number, signal),
      );
      if (asked) return;
    }
  }

  #readCombined(stack: string, sent: Block): Combined {
    checkParts(sent.parts, sent.error, combinedShapes(this.stack(stack)));
    const arrays = decodeBlock(sent);
    const [mean, max] = [arrays.get("mean"), arrays.get("max")];
    if (!mean || !max) throw new Error("What combines all layers came incomplete.");
    return { mean: mean.values, max: max.values, rounding: FLOAT16 };
  }

  /** One after the other. */
  async *#allLayers(stack: string, signal: AbortSignal): AsyncIterable<LayerData> {
    for (const { number } of this.stack(stack).layers) {
      signal.throwIfAborted();
      const { data } = await this.#askLayer(stack, number, signal);
      if (!data.whole) throw new Error(`Layer ${number} is too large for that.`);
      yield data.whole;
    }
  }

  #stackIndex(name: string): number {
    const index = this.manifest.stacks.findIndex((stack) => stack.name === name);
    if (index < 0) throw new Error(`This record has no stack named ${name}.`);
    return index;
  }
}

const keyOf = (stack: string, layer: number) => `${stack}.${layer}`;
