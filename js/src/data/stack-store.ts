/** The numbers of a stack: thumbnails at once, and all else on demand. */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { type AttentionMatrix, isSigned } from "./attention-matrix.ts";

import { type Combined, pauses } from "./combine.ts";
import type { Ratios } from "./effect.ts";
import type { Layer } from "./layer.ts";
import { ATTENTION, type LensInfo, layerOf, type MeasuredCut, type StackInfo } from "./manifest.ts";
import type { Loaded, ResourceCache } from "./resource-cache.ts";
import {
  type ComputedThumbnails,
  computedThumbnail,
  MOST,
  MOST_SIGNED,
  type Overview,
  type Thumbnail,
} from "./thumbnails.ts";

/** The matrices of a lens in a layer, [Tq, Tk] row by row: of every head, or one of the layer. */
export interface LensNumbers {
  readonly matrices: readonly Float32Array[];
  /** The largest difference of a number of each from the record's. */
  readonly rounding: readonly number[];
}

/** What the rows of a running text attend to, each array row by row. */
interface Shares {
  /** [rows, Tk], over all heads of all layers. */
  readonly mean: Float32Array;
  /** [rows, sentences, heads], without sinks. */
  readonly shares: Float32Array;
}

/** The attention of a running text. */
export interface TextShares extends Shares {
  /** The same by other lenses that all layers have, by name. */
  readonly ofLenses: ReadonlyMap<string, Shares>;
  /** The kind of each key: 1 for the first token, 2 for the template, 3 for a sink of the text, else 0. */
  readonly sinks: Float32Array;
}

export type Thumbnails = ReturnType<Overview["get"]>;

/** A stack of a record, or the difference of two, which fetches its numbers while they are watched. */
export abstract class StackStore {
  /** What cuts of parts of the running text change, as far as it is measured. */
  readonly cuts: Signal<readonly MeasuredCut[]>;
  /** What its places get in other orders of the sentences; null if that is not measured. */
  readonly shuffled: Signal<Ratios | null>;

  /** @param thumbnails by the name of a lens; undefined if there are none */
  constructor(
    readonly info: StackInfo,
    /** Keeps all that is fetched or computed, for all stacks together. */
    protected readonly cache: ResourceCache,
    protected readonly thumbnails: Thumbnails,
  ) {
    this.cuts = signal(info.text?.cuts ?? []);
    this.shuffled = signal(info.text?.shuffled ?? null);
  }

  /** The layer of this number. */
  abstract layer(number: number): ReadonlySignal<Loaded<Layer>>;

  /** The combination of all layers. */
  abstract combined(): ReadonlySignal<Loaded<Combined>>;

  /** The attention of the running text. */
  abstract text(): ReadonlySignal<Loaded<TextShares>>;

  /** True if the matrices of a lens can be had of a layer, from the kernel or the page. */
  abstract hasNumbers(layer: number, lens: LensInfo): boolean;

  /** The matrices of a lens in a layer: those of A and of B for B − A. */
  abstract numbers(layer: number, lens: LensInfo): ReadonlySignal<Loaded<readonly LensNumbers[]>>;

  /** The weights of a query in every head of the layer of this number, asked for at once. */
  abstract headRows(
    number: number,
    query: number,
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]>;

  /** The layer of this number, asked for at once; null if it cannot be had. */
  abstract fetch(number: number, signal: AbortSignal): Promise<Layer | null>;

  /** The weight from a query to a key in all heads, by the number of their layer. */
  pair(query: number, key: number) {
    const { name, layers } = this.info;
    return this.cache.get(`${name}.pair ${query} ${key}`, async (signal) => {
      const data = new Map<number, readonly number[]>();
      for (const { number } of layers) {
        signal.throwIfAborted();
        const rows = await this.headRows(number, query, signal);
        data.set(
          number,
          rows.map((row) => row[key]),
        );
      }
      return { data, bytes: 8 * layers.reduce((sum, { heads }) => sum + heads, 0) };
    });
  }

  /** True if the thumbnails of a layer by a lens are here. */
  hasThumbnail(layer: number, lens: LensInfo): boolean {
    return this.#thumbnails(layer, lens) !== undefined;
  }

  #thumbnails(layer: number, lens: LensInfo): readonly Thumbnail[] | undefined {
    const index = this.info.layers.findIndex(({ number }) => number === layer);
    const own = this.thumbnails?.get(lens.name)?.[index];
    return own?.length ? own : undefined;
  }

  /**
   * The thumbnail of a head by a lens, or that of its attention where there is none. Levels are 0 to
   * 15, by the square roots of magnitudes as shares of the stack's largest; of coefficients, of the
   * head's largest.
   */
  thumbnail(layer: number, head: number, lens = ATTENTION): Thumbnail {
    const own = this.#thumbnails(layer, lens)?.[head];
    if (!own && lens.name === ATTENTION.name) throw new Error("This record has no thumbnails.");
    if (!own) return this.thumbnail(layer, head);
    const peaksOf = ({ peaks }: StackInfo["layers"][0]) => peaks?.[lens.name] ?? [];
    const peak = peaksOf(layerOf(this.info, layer))[head];
    if (peak === undefined) return own;
    // Coefficients have a scale of their own in each head.
    const isOwn = lens.name === ATTENTION.name && !this.info.difference;
    const largest = isOwn ? peak : Math.max(...this.info.layers.flatMap(peaksOf));
    const share = largest ? Math.sqrt(peak / largest) : 0;
    const scale = own.signed ? MOST / MOST_SIGNED : 1;
    // Levels below zero are rounded as those above.
    const rounded = (level: number) =>
      Math.sign(level) * Math.round(share * scale * Math.abs(level));
    return { ...own, levels: own.levels.map(rounded) };
  }

  /**
   * The thumbnails of a lens that is computed here.
   *
   * @param matrixOf the numbers of a head; null where a layer lacks the lens
   */
  computedThumbnails(
    lens: LensInfo,
    matrixOf: (layer: Layer, head: number) => AttentionMatrix | null,
  ): ReadonlySignal<Loaded<ComputedThumbnails>> {
    const { info } = this;
    return this.cache.get(`${info.name}.thumbnails ${lens.name}`, async (signal) => {
      const data = new Map<number, Thumbnail[] | null>();
      const pause = pauses();
      let bytes = 0;
      for (const { number, heads } of info.layers) {
        const layer = await this.fetch(number, signal);
        const thumbnails: Thumbnail[] = [];
        for (let head = 0; layer && head < heads; head++) {
          const matrix = matrixOf(layer, head);
          if (!matrix) break;
          const thumbnail = computedThumbnail(
            (query) => matrix.row(query, true),
            isSigned(matrix),
            info,
            this.thumbnail(number, head),
          );
          thumbnails.push(thumbnail);
          bytes += thumbnail.levels.length;
          await pause();
          signal.throwIfAborted();
        }
        data.set(number, thumbnails.length ? thumbnails : null);
      }
      return { data, bytes };
    });
  }
}
