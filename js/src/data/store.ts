/** The record, as far as it has arrived: manifest and thumbnails at once, layers when wanted. */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { type Block, decodeBlock, decodeOverview, type Thumbnail } from "./codec.ts";
import { LayerData } from "./layer.ts";
import { layerOf, type Manifest, type StackInfo } from "./manifest.ts";

/** Where layers come from: a kernel, or the page itself. */
export interface Source {
  /** The block of the layer of this number. Rejects with a message for the reader. */
  block(stack: string, layer: number): Promise<Block>;
}

export type LayerState =
  | { readonly status: "loading" }
  | { readonly status: "ready"; readonly data: LayerData }
  | { readonly status: "failed"; readonly message: string };

export class Store {
  readonly #layers = new Map<string, Signal<LayerState>>();
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
  layer(stack: string, layer: number): ReadonlySignal<LayerState> {
    const key = `${stack}.${layer}`;
    let state = this.#layers.get(key);
    if (!state) {
      state = signal<LayerState>({ status: "loading" });
      this.#layers.set(key, state);
      void this.#load(stack, layer, state);
    } else if (state.peek().status === "failed") {
      void this.#load(stack, layer, state);
    }
    return state;
  }

  /** Ask again for every layer that failed, because the source has changed. */
  retry(): void {
    for (const [key, state] of this.#layers) {
      if (state.peek().status !== "failed") continue;
      const dot = key.lastIndexOf(".");
      void this.#load(key.slice(0, dot), Number(key.slice(dot + 1)), state);
    }
  }

  async #load(name: string, layer: number, state: Signal<LayerState>): Promise<void> {
    try {
      const arrays = decodeBlock(await this.source.block(name, layer));
      const stack = this.stack(name);
      const data = new LayerData(stack, layerOf(stack, layer), arrays);
      state.value = { status: "ready", data };
    } catch (error) {
      state.value = {
        status: "failed",
        message: error instanceof Error ? error.message : `${error}`,
      };
    }
  }

  #stackIndex(name: string): number {
    const index = this.manifest.stacks.findIndex((stack) => stack.name === name);
    if (index < 0) throw new Error(`This record has no stack named ${name}.`);
    return index;
  }
}
