/** The record in the browser: manifest and thumbnails at once, layers on demand. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { compiled } from "../kernels/compiled.ts";
import { bytesIn } from "./arrays.ts";
import {
  checkNumbers,
  checkParts,
  combinedShapes,
  layerShapes,
  rolloutShapes,
} from "./check-block.ts";
import {
  type Block,
  decodeBlock,
  decodeOverview,
  MOST_LEVELS,
  type Overview,
  type SignedThumbnail,
  type Thumbnail,
} from "./codec.ts";
import { type Combined, combine, pauses } from "./combine.ts";
import { both, DifferenceLayer } from "./difference-layer.ts";
import type { Effect } from "./effect.ts";
import type { Layer } from "./layer.ts";
import { LayerData } from "./layer-data.ts";
import {
  type ComparedStack,
  type LayerInfo,
  layerOf,
  type Manifest,
  type StackInfo,
} from "./manifest.ts";
import { type PackedBlock, unpack } from "./packed.ts";
import { fetchWeights, RemoteLayer, type RowCache, type Rows } from "./remote-layer.ts";
import type { Off } from "./requests.ts";
import { Absent, type Delivery, type Loaded, ResourceCache } from "./resource-cache.ts";
import { type ScoreThumbnails, scoreThumbnail } from "./score-thumbnails.ts";

/** The source of layers: a kernel, or the page. */
export interface Source {
  /**
   * Fetch the block of a layer, packed or not. The store checks it. Rejects with a message for the
   * reader.
   *
   * @param signal aborted when the block is not needed any more
   */
  block(stack: string, layer: number, signal: AbortSignal): Promise<Block | PackedBlock>;
  /** Fetches single rows of a layer; null if only its block can be had. */
  rows?(stack: string, layer: number): Rows | null;
  /** Fetches all heads of all layers as one; only a kernel computes that. */
  readonly combined?: ((stack: string, signal: AbortSignal) => Promise<Block>) | null;
  /** Fetches the rollout of all layers; null if it cannot be had. */
  rollout?(stack: string): ((signal: AbortSignal) => Promise<Block | PackedBlock>) | null;
  /** Runs the model without some heads and links; only a kernel can. */
  readonly effect?:
    | ((off: Off, query: number | null, signal: AbortSignal) => Promise<Effect>)
    | null;
  /** The sentence that says which effects a page has, which cannot run the model. */
  readonly effectsHere?: (stack: string) => string;
  /** Captures the attention without some heads and links, likewise. */
  readonly changed?: ((off: Off, signal: AbortSignal) => Promise<Store>) | null;
}

/** The rollout of each layer, [T, T] row by row, by the layer's number. */
export interface Rollout {
  readonly layers: ReadonlyMap<number, Float32Array>;
  /** The largest difference of a number from the record's. */
  readonly rounding: number;
}

/** The largest change of a weight by rounding it to float16. */
const FLOAT16 = 2 ** -12;

/** The budget for decoded layers, in bytes. */
export const BUDGET = 64 * 2 ** 20;

/** The budget for rows and columns of remote layers, in bytes. */
const ROWS_BUDGET = 32 * 2 ** 20;

/** A layer with a larger block is fetched row by row, if the source can. */
export const LARGEST_BLOCK = 32 * 2 ** 20;

/** The delay of prefetching in browsers that do not report when they are idle. */
const IDLE_MS = 200;

const whenIdle: (work: () => void) => void =
  typeof requestIdleCallback === "function"
    ? (work) => requestIdleCallback(work, { timeout: 2000 })
    : (work) => setTimeout(work, IDLE_MS);

interface Near {
  readonly stack: string;
  readonly number: number;
  /** The layers not yet prefetched, and the bytes of the others. */
  readonly layers: LayerInfo[];
  bytes: number;
}

/** The weight of one pair of tokens in every head, by the number of its layer. */
export type PairWeights = ReadonlyMap<number, readonly number[]>;

export class Store {
  readonly #cache = new ResourceCache<Layer | Combined | Rollout | PairWeights | ScoreThumbnails>(
    BUDGET,
    () => this.#planPrefetch(),
  );
  readonly #rows: RowCache = new ResourceCache(ROWS_BUDGET);
  readonly #overview: Overview | null;
  /** The neighbours of the layer requested last, which is the one in view. */
  #near: Near | null = null;
  #planned = false;

  /** @param overview the thumbnails; null if they are not needed */
  constructor(
    readonly manifest: Manifest,
    overview: Uint8Array | null,
    private readonly source: Source,
  ) {
    this.#overview = overview && decodeOverview(manifest, overview);
    // In parallel with the first request.
    void compiled();
  }

  /** True if a kernel answers. */
  get live(): boolean {
    return Boolean(this.source.combined);
  }

  /** Run the model without some heads and links; null if nothing here can. */
  get effect(): Source["effect"] {
    return this.source.effect ?? null;
  }

  /** The sentence that says which effects a page has; "" where the model can run. */
  effectsHere(stack: string): string {
    return this.source.effectsHere?.(stack) ?? "";
  }

  /** Capture the attention without some heads and links; null if nothing here can. */
  get changed(): Source["changed"] {
    return this.source.changed ?? null;
  }

  stack(name: string): StackInfo {
    return this.#compared(name)?.difference ?? this.manifest.stacks[this.#stackIndex(name)];
  }

  /** The stacks of which a stack of this name is the difference; null if it is a record's own. */
  #compared(name: string): ComparedStack | null {
    const pairs = [...(this.manifest.compared?.stacks.values() ?? [])];
    return pairs.find(({ difference }) => difference.name === name) ?? null;
  }

  /** @param weighted true for value-weighted shares, where they are known */
  thumbnail(stack: string, layer: number, head: number, weighted = false): Thumbnail {
    const { layers } = this.stack(stack);
    const index = layers.findIndex(({ number }) => number === layer);
    const compared = this.#compared(stack);
    if (compared) return this.#signedThumbnail(compared.difference, index, head);
    const of = this.#stackIndex(stack);
    if (!this.#overview) throw new Error("This record has no thumbnails.");
    const { attention, weighted: shares } = this.#overview;
    return (weighted && shares[of][index][head]) || attention[of][index][head];
  }

  /** Its levels are 0 to 15, by the square root of |B − A| as a share of the stack's largest. */
  #signedThumbnail(stack: StackInfo, layer: number, head: number): SignedThumbnail {
    const own = this.#overview?.differences.get(stack)?.[layer][head];
    if (!own) throw new Error("This comparison has no thumbnails.");
    const largest = Math.max(...stack.layers.flatMap(({ peaks }) => peaks ?? []));
    const share = largest ? Math.sqrt((stack.layers[layer].peaks?.[head] ?? 0) / largest) : 0;
    return {
      ...own,
      levels: own.levels.map((level) => Math.round((15 * share * level) / MOST_LEVELS)),
    };
  }

  #difference(compared: ComparedStack, number: number) {
    const { a, b } = compared;
    const sides = [this.layer(b.name, number), this.layer(a.name, number)];
    return computed(() =>
      both(
        sides[1].value,
        sides[0].value,
        (own, other): Layer => this.#differenceLayer(compared, number, [own, other]),
      ),
    );
  }

  #differenceLayer(
    { difference }: ComparedStack,
    number: number,
    sides: readonly [Layer, Layer],
  ): DifferenceLayer {
    const at = difference.layers.findIndex((layer) => layer.number === number);
    const thumbnails = this.#overview?.differences.get(difference)?.[at] ?? [];
    return new DifferenceLayer(difference, difference.layers[at], sides, thumbnails);
  }

  /** The layer of this number, fetched while it is watched. */
  layer(stack: string, layer: number): ReadonlySignal<Loaded<Layer>> {
    const compared = this.#compared(stack);
    if (compared) return this.#difference(compared, layer);
    if (this.#near?.stack !== stack || this.#near.number !== layer) {
      this.#near = { stack, number: layer, layers: this.#neighbours(stack, layer), bytes: 0 };
    }
    return this.#cache.get(keyOf(stack, layer), (signal) => this.#askLayer(stack, layer, signal));
  }

  /** The combination of all layers of a stack, asked for likewise. */
  combined(stack: string): ReadonlySignal<Loaded<Combined>> {
    const compared = this.#compared(stack);
    if (compared) {
      const [a, b] = [this.combined(compared.a.name), this.combined(compared.b.name)];
      return computed(() => both(a.value, b.value, differenceOfMeans));
    }
    return this.#cache.get(keyOf(stack, "combined"), async (signal) => {
      const asked = this.source.combined?.(stack, signal);
      const data = asked
        ? this.#readCombined(stack, await asked)
        : await combine(this.stack(stack), this.#allLayers(stack, signal));
      return { data, bytes: 3 * data.mean.byteLength };
    });
  }

  /** True if the rollout of a stack can be had, from the kernel or the page. */
  hasRollout(stack: string): boolean {
    return Boolean(this.source.rollout?.(stack));
  }

  /** The rollout of a stack, asked for likewise. */
  rollout(stack: string): ReadonlySignal<Loaded<Rollout>> {
    return this.#cache.get(keyOf(stack, "rollout"), async (signal) => {
      const ask = this.source.rollout?.(stack);
      if (!ask) throw new Absent("Rollout is not in this page.");
      const sent = await ask(signal);
      const { layers, keys } = this.stack(stack);
      const size = keys.labels.length ** 2;
      checkParts(sent.parts, sent.error, rolloutShapes(this.stack(stack)));
      const arrays = decodeBlock("data" in sent ? await unpack(sent) : sent);
      checkNumbers(arrays);
      const values = arrays.get("rollout")?.values ?? new Float32Array(0);
      // Copies, because a part that is sent to the worker would take all of them along.
      const parts = layers.map(
        ({ number }, at) => [number, values.slice(at * size, (at + 1) * size)] as const,
      );
      return { data: { layers: new Map(parts), rounding: FLOAT16 }, bytes: values.byteLength };
    });
  }

  /** The weight from a query to a key in all heads of a stack, asked for likewise. */
  pair(stack: string, query: number, key: number): ReadonlySignal<Loaded<PairWeights>> {
    const compared = this.#compared(stack);
    if (compared) {
      const [a, b] = [compared.a, compared.b].map(({ name }) => this.pair(name, query, key));
      return computed(() => both(a.value, b.value, differenceOfPairs));
    }
    return this.#cache.get(`${stack}.pair ${query} ${key}`, async (signal) => {
      const data = new Map<number, readonly number[]>();
      for (const info of this.stack(stack).layers) {
        signal.throwIfAborted();
        data.set(info.number, await this.#pairWeights(stack, info, query, key, signal));
      }
      const heads = [...data.values()].reduce((sum, weights) => sum + weights.length, 0);
      return { data, bytes: 8 * heads };
    });
  }

  /** The thumbnails of scores, asked for likewise. */
  scoreThumbnails(stack: string): ReadonlySignal<Loaded<ScoreThumbnails>> {
    return this.#cache.get(keyOf(stack, "scores"), async (signal) => {
      const data = new Map<number, SignedThumbnail[] | null>();
      const pause = pauses();
      let bytes = 0;
      for (const { number, heads } of this.stack(stack).layers) {
        const whole = await this.#scoredLayer(stack, number, signal);
        const thumbnails: SignedThumbnail[] | null = whole && [];
        data.set(number, thumbnails);
        for (let head = 0; whole && thumbnails && head < heads; head++) {
          const thumbnail = scoreThumbnail(whole, head, this.thumbnail(stack, number, head));
          thumbnails.push(thumbnail);
          bytes += 2 * thumbnail.levels.length;
          await pause();
          signal.throwIfAborted();
        }
      }
      return { data, bytes };
    });
  }

  /** The layer, or its B − A, if it has scores and is here as a whole, else null. */
  async #scoredLayer(stack: string, number: number, signal: AbortSignal): Promise<Layer | null> {
    const compared = this.#compared(stack);
    if (!compared) return this.#wholeLayer(stack, number, signal);
    const a = await this.#wholeLayer(compared.a.name, number, signal);
    const b = a && (await this.#wholeLayer(compared.b.name, number, signal));
    return b && this.#differenceLayer(compared, number, [a, b]);
  }

  /** A layer with scores; null if it has none, or is not here as a whole. */
  async #wholeLayer(stack: string, number: number, signal: AbortSignal): Promise<LayerData | null> {
    if (!layerOf(this.stack(stack), number).program) return null;
    try {
      return (await this.#askLayer(stack, number, signal)).data.whole;
    } catch (error) {
      if (error instanceof Absent) return null;
      throw error;
    }
  }

  retry(): void {
    this.#cache.retry();
  }

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

  async #pairWeights(
    name: string,
    info: LayerInfo,
    query: number,
    key: number,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const rows = this.source.rows?.(name, info.number);
    if (rows) return fetchWeights(this.stack(name), info, rows, query, key, signal);
    const { data } = await this.#askLayer(name, info.number, signal);
    return Array.from({ length: info.heads }, (_, head) => data.weightRow(head, query)[key]);
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

  /** Prefetch one neighbour of the layer in view. Its arrival triggers the other. */
  #prefetch(): void {
    const near = this.#near;
    if (!near || this.#cache.waiting) return;
    if (this.layer(near.stack, near.number).peek().status !== "ready") return;
    for (let next = near.layers.shift(); next; next = near.layers.shift()) {
      const { number, bytes } = next;
      // Blocks hold 16 bits per number, decoded layers 32.
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
    const [mean, max, head] = ["mean", "max", "head"].map((name) => arrays.get(name)?.values);
    if (!mean || !max || !head) throw new Error("The combination of all layers came incomplete.");
    const rows = new Float32Array(this.stack(stack).queries.labels.length).fill(FLOAT16);
    return { mean, max, head, rounding: FLOAT16, rowRounding: { mean: rows, max: rows } };
  }

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

const differenceOfPairs = (a: PairWeights, b: PairWeights): PairWeights =>
  new Map(
    [...a].map(([layer, weights]) => [
      layer,
      weights.map((weight, head) => (b.get(layer)?.[head] ?? 0) - weight),
    ]),
  );

const keyOf = (stack: string, layer: number | "combined" | "rollout" | "scores") =>
  `${stack}.${layer}`;
