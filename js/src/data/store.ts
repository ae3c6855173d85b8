/** The record, as far as it has arrived: manifest and thumbnails at once, layers when wanted. */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import {
  type Arrays,
  type Block,
  type BlockName,
  decodeBlock,
  decodeOverview,
  type Thumbnail,
} from "./codec.ts";
import { LayerData } from "./layer.ts";
import { layerOf, type Manifest, type StackInfo } from "./manifest.ts";

/** Where layers come from: a kernel, or the page itself. */
export interface Source {
  /** The block of the layer of this number. Rejects with a message for the reader. */
  block(stack: string, layer: BlockName): Promise<Block>;
}

export type Loaded<Data> =
  | { readonly status: "loading" }
  | { readonly status: "ready"; readonly data: Data }
  | { readonly status: "failed"; readonly message: string };

/** Every head of every layer of a stack as one, [Tq, Tk] row by row. */
export interface Combined {
  readonly mean: Float32Array;
  readonly max: Float32Array;
}

/** A block that was asked for, and how it is asked for again. */
interface Wanted<Data> {
  readonly state: Signal<Loaded<Data>>;
  load(): Promise<void>;
}

export class Store {
  readonly #wanted = new Map<string, Wanted<unknown>>();
  readonly #thumbnails: Thumbnail[][][];

  constructor(
    readonly manifest: Manifest,
    overview: Uint8Array,
    private readonly source: Source,
  ) {
    this.#thumbnails = decodeOverview(manifest, overview);
  }

  stack(name: string): StackInfo {
    return this.manifest.stacks[this.#stackIndex(name)];
  }

  thumbnail(stack: string, layer: number, head: number): Thumbnail {
    const { layers } = this.stack(stack);
    const index = layers.findIndex(({ number }) => number === layer);
    return this.#thumbnails[this.#stackIndex(stack)][index][head];
  }

  /** The layer of this number, asked for from the source on the first call, and again on one after it failed. */
  layer(name: string, layer: number): ReadonlySignal<Loaded<LayerData>> {
    return this.#ask(name, layer, (arrays) => {
      const stack = this.stack(name);
      return new LayerData(stack, layerOf(stack, layer), arrays);
    });
  }

  /** What combines all layers of a stack, asked for likewise. */
  combined(name: string): ReadonlySignal<Loaded<Combined>> {
    return this.#ask(name, "combined", (arrays) => {
      const [mean, max] = [arrays.get("mean"), arrays.get("max")];
      if (!mean || !max) throw new Error("What combines all layers came incomplete.");
      return { mean: mean.values, max: max.values };
    });
  }

  /** Ask again for every block that failed, because the source has changed. */
  retry(): void {
    for (const { state, load } of this.#wanted.values()) {
      if (state.peek().status === "failed") void load();
    }
  }

  #ask<Data>(
    stack: string,
    name: BlockName,
    read: (arrays: Arrays) => Data,
  ): ReadonlySignal<Loaded<Data>> {
    const key = `${stack}.${name}`;
    const known = this.#wanted.get(key) as Wanted<Data> | undefined;
    if (known) {
      if (known.state.peek().status === "failed") void known.load();
      return known.state;
    }
    const state = signal<Loaded<Data>>({ status: "loading" });
    const load = async () => {
      try {
        const data = read(decodeBlock(await this.source.block(stack, name)));
        state.value = { status: "ready", data };
      } catch (error) {
        const message = error instanceof Error ? error.message : `${error}`;
        state.value = { status: "failed", message };
      }
    };
    this.#wanted.set(key, { state, load });
    void load();
    return state;
  }

  #stackIndex(name: string): number {
    const index = this.manifest.stacks.findIndex((stack) => stack.name === name);
    if (index < 0) throw new Error(`This record has no stack named ${name}.`);
    return index;
  }
}
