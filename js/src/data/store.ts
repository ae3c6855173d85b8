/** The record in the browser: manifest and thumbnails at once, layers on demand. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { compiled } from "../kernels/compiled.ts";
import { bytesIn } from "./arrays.ts";
import type { AttentionMatrix } from "./attention-matrix.ts";
import {
  checkNumbers,
  checkParts,
  combinedShapes,
  layerShapes,
  numbersShapes,
} from "./check-block.ts";
import {
  type Block,
  decodeBlock,
  decodeOverview,
  MOST_LEVELS,
  type Overview,
  type Thumbnail,
} from "./codec.ts";
import { type Combined, combine, pauses } from "./combine.ts";
import { type ComputedThumbnails, computedThumbnail } from "./computed-thumbnails.ts";
import { both, DifferenceLayer } from "./difference-layer.ts";
import type { Effect } from "./effect.ts";
import type { Layer } from "./layer.ts";
import { LayerData } from "./layer-data.ts";
import {
  ATTENTION,
  type ComparedStack,
  type LayerInfo,
  type LensInfo,
  layerOf,
  type Manifest,
  type StackInfo,
} from "./manifest.ts";
import { type PackedBlock, unpack } from "./packed.ts";
import { fetchWeights, RemoteLayer, type RowCache, type Rows } from "./remote-layer.ts";
import type { Off } from "./requests.ts";
import { Absent, type Delivery, type Loaded, ResourceCache } from "./resource-cache.ts";

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
  /** Fetches the matrices of a lens in a layer; null if they cannot be had. */
  numbers?(
    stack: string,
    layer: number,
    lens: string,
  ): ((signal: AbortSignal) => Promise<Block | PackedBlock>) | null;
  /** Runs the model without some heads and links; only a kernel can. */
  readonly effect?:
    | ((off: Off, query: number | null, signal: AbortSignal) => Promise<Effect>)
    | null;
  /** The sentence that says which effects a page has, which cannot run the model. */
  readonly effectsHere?: (stack: string) => string;
  /** Captures the attention without some heads and links, likewise. */
  readonly changed?: ((off: Off, signal: AbortSignal) => Promise<Store>) | null;
}

/** The matrices of a lens in a layer, [Tq, Tk] row by row: of every head, or one of the layer. */
export interface LensNumbers {
  readonly matrices: readonly Float32Array[];
  /** The largest difference of a number of each from the record's. */
  readonly rounding: readonly number[];
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
  readonly #cache = new ResourceCache<
    Layer | Combined | LensNumbers | PairWeights | ComputedThumbnails
  >(BUDGET, () => this.#planPrefetch());
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

  /** True if the thumbnails of a layer by a lens are here. */
  hasThumbnail(stack: string, layer: number, lens: LensInfo): boolean {
    return this.#thumbnails(stack, layer, lens) !== undefined;
  }

  #thumbnails(stack: string, layer: number, { name }: LensInfo): readonly Thumbnail[] | undefined {
    const index = this.stack(stack).layers.findIndex(({ number }) => number === layer);
    const compared = this.#compared(stack);
    const all = compared
      ? this.#overview?.differences.get(name)?.get(compared.difference)
      : this.#overview?.lenses.get(name)?.[this.#stackIndex(stack)];
    return all?.[index]?.length ? all[index] : undefined;
  }

  /** The thumbnail of a head by a lens, or that of its attention where there is none. */
  thumbnail(stack: string, layer: number, head: number, lens = ATTENTION): Thumbnail {
    const own = this.#thumbnails(stack, layer, lens)?.[head];
    const info = this.stack(stack);
    if (own) return scaled(own, info.layers, layerOf(info, layer), head, lens);
    if (lens.name === ATTENTION.name) throw new Error("This record has no thumbnails.");
    return this.thumbnail(stack, layer, head);
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
    const all = this.#overview?.differences.get(ATTENTION.name);
    const thumbnails = all?.get(difference)?.[at] ?? [];
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

  /** True if the matrices of a lens can be had of a layer, from the kernel or the page. */
  hasNumbers(stack: string, layer: number, { name }: LensInfo): boolean {
    const compared = this.#compared(stack);
    const sides = compared ? [compared.a, compared.b].map((side) => side.name) : [stack];
    return sides.every((side) => this.source.numbers?.(side, layer, name));
  }

  /** The matrices of a lens in a layer, asked for likewise: those of A and of B for B − A. */
  numbers(
    stack: string,
    layer: number,
    lens: LensInfo,
  ): ReadonlySignal<Loaded<readonly LensNumbers[]>> {
    const compared = this.#compared(stack);
    if (compared) {
      const [a, b] = [compared.a, compared.b].map(({ name }) => this.numbers(name, layer, lens));
      return computed(() => both(a.value, b.value, (own, other) => [...own, ...other]));
    }
    const asked = this.#cache.get(`${keyOf(stack, layer)}.${lens.name}`, async (signal) => {
      const ask = this.source.numbers?.(stack, layer, lens.name);
      if (!ask) throw new Absent(`${lens.label} of layer ${layer} is not in this page.`);
      const sent = await ask(signal);
      const info = this.stack(stack);
      checkParts(sent.parts, sent.error, numbersShapes(info, layerOf(info, layer), lens));
      const arrays = decodeBlock("data" in sent ? await unpack(sent) : sent);
      checkNumbers(arrays);
      const [values, steps] = ["numbers", "steps"].map(
        (name) => arrays.get(name)?.values ?? new Float32Array(0),
      );
      const size = info.queries.labels.length * info.keys.labels.length;
      // Copies, because a part that is sent to the worker would take all of them along.
      const matrices = Array.from(steps, (step, at) =>
        values.slice(at * size, (at + 1) * size).map((integer) => integer * step),
      );
      const rounding = Array.from(steps, (step) => step / 2);
      return { data: { matrices, rounding }, bytes: values.byteLength };
    });
    return computed(() => {
      const loaded = asked.value;
      return loaded.status === "ready" ? { ...loaded, data: [loaded.data] } : loaded;
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

  /**
   * The thumbnails of a lens that is computed here, asked for likewise.
   *
   * @param matrixOf the numbers of a head; null where a layer lacks the lens
   */
  computedThumbnails(
    stack: string,
    lens: LensInfo,
    matrixOf: (layer: Layer, head: number) => AttentionMatrix | null,
  ): ReadonlySignal<Loaded<ComputedThumbnails>> {
    return this.#cache.get(`${stack}.thumbnails ${lens.name}`, async (signal) => {
      const data = new Map<number, Thumbnail[] | null>();
      const pause = pauses();
      let bytes = 0;
      const info = this.stack(stack);
      for (const { number, heads } of info.layers) {
        const layer = await this.#layerHere(stack, number, signal);
        const thumbnails: Thumbnail[] = [];
        for (let head = 0; layer && head < heads; head++) {
          const matrix = matrixOf(layer, head);
          if (!matrix) break;
          const thumbnail = computedThumbnail(matrix, info, this.thumbnail(stack, number, head));
          thumbnails.push(thumbnail);
          bytes += 2 * thumbnail.levels.length;
          await pause();
          signal.throwIfAborted();
        }
        data.set(number, thumbnails.length ? thumbnails : null);
      }
      return { data, bytes };
    });
  }

  /** The layer, or its B − A, if it is here. */
  async #layerHere(stack: string, number: number, signal: AbortSignal): Promise<Layer | null> {
    const compared = this.#compared(stack);
    if (compared) {
      const a = await this.#layerHere(compared.a.name, number, signal);
      const b = a && (await this.#layerHere(compared.b.name, number, signal));
      return b && this.#differenceLayer(compared, number, [a, b]);
    }
    try {
      return (await this.#askLayer(stack, number, signal)).data;
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
    checkParts(sent.parts, sent.error, layerShapes(stack, info, this.manifest.lenses, sent.parts));
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

const keyOf = (stack: string, layer: number | "combined") => `${stack}.${layer}`;

/** Levels 0 to 15, by the square roots of magnitudes as shares of the stack's largest. */
function scaled(
  thumbnail: Thumbnail,
  layers: readonly LayerInfo[],
  { peaks }: LayerInfo,
  head: number,
  { name }: LensInfo,
): Thumbnail {
  const peak = peaks?.[name]?.[head];
  if (peak === undefined) return thumbnail;
  const largest = Math.max(...layers.flatMap((layer) => layer.peaks?.[name] ?? []));
  const share = largest ? Math.sqrt(peak / largest) : 0;
  const most = thumbnail.less ? MOST_LEVELS / 15 : 1;
  const levels = thumbnail.levels.map((level) => Math.round((share * level) / most));
  return { ...thumbnail, levels };
}
