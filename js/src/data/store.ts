/** The record in the browser, or two that are compared. */

import { compiled } from "../kernels/compiled.ts";
import { DifferenceStack } from "./difference-stack.ts";
import type { LayerInfo, Manifest } from "./manifest.ts";
import { LARGEST_BLOCK, RecordStack, type StackSource } from "./record-stack.ts";
import type { Off, Requests } from "./requests.ts";
import { ResourceCache } from "./resource-cache.ts";
import type { StackStore } from "./stack-store.ts";
import { decodeOverview } from "./thumbnails.ts";

/** The source of numbers: a kernel, or the page. */
export interface Source extends StackSource {
  /** Puts a view that needs no kernel into the notebook, in place of this one. */
  readonly keep?: (() => void) | null;
  /** Runs the model without some heads and links; only a kernel can, or has for the page. */
  readonly effects?: Effects | null;
  /** Runs the model for an answer, without links or in other orders; only a kernel can. */
  readonly cuts?: Pick<Requests, "cut" | "answer" | "shuffled"> | null;
  /** Captures the attention without some heads and links, likewise. */
  readonly changed?: ((off: Off, signal: AbortSignal) => Promise<Store>) | null;
}

/** The effect of heads and links that are off, or of as many others. */
export interface Effects extends Pick<Requests, "effect"> {
  readonly others?: Requests["others"] | undefined;
  /** The sentence that says which effects a page has, which cannot run the model. */
  saved?(stack: string): string;
}

/** The budget for decoded layers, in bytes. */
export const BUDGET = 64 * 2 ** 20;

/** The budget for rows and columns of remote layers, in bytes. */
const ROWS_BUDGET = 32 * 2 ** 20;

/** The delay of prefetching in browsers that do not report when they are idle. */
const IDLE_MS = 200;

const whenIdle: (work: () => void) => void =
  typeof requestIdleCallback === "function"
    ? (work) => requestIdleCallback(work, { timeout: 2000 })
    : (work) => setTimeout(work, IDLE_MS);

interface Near {
  readonly stack: RecordStack;
  readonly number: number;
  /** The layers not yet prefetched, and the bytes of the others. */
  readonly layers: LayerInfo[];
  bytes: number;
}

export class Store {
  readonly #cache = new ResourceCache(BUDGET, () => this.#planPrefetch());
  readonly #stacks = new Map<string, StackStore>();
  /** The neighbours of the layer requested last, which is the one in view. */
  #near: Near | null = null;
  #planned = false;

  /** @param overview the thumbnails; null if they are not needed */
  constructor(
    readonly manifest: Manifest,
    overview: Uint8Array | null,
    /** The source of layers; it lacks cuts, effects and the like where it cannot make them. */
    readonly source: Source,
  ) {
    const { stacks, lenses, compared } = manifest;
    const thumbnails = overview && decodeOverview(manifest, overview);
    const rows = new ResourceCache(ROWS_BUDGET);
    const see = (stack: RecordStack, layer: number) => this.#see(stack, layer);
    for (const info of stacks) {
      const own = thumbnails?.get(info.name);
      const stack = new RecordStack(info, this.#cache, own, lenses, source, rows, see);
      this.#stacks.set(info.name, stack);
    }
    for (const { a, b, difference } of compared?.stacks.values() ?? []) {
      const own = thumbnails?.get(difference.name);
      const [before, after] = [this.stack(a.name), this.stack(b.name)];
      const stack = new DifferenceStack(difference, this.#cache, own, before, after);
      this.#stacks.set(difference.name, stack);
    }
    // In parallel with the first request.
    void compiled();
  }

  /** True if a kernel answers. */
  get live(): boolean {
    return Boolean(this.source.combined);
  }

  /** A stack of the record, or the difference of two. */
  stack(name: string): StackStore {
    const stack = this.#stacks.get(name);
    if (!stack) throw new Error(`This record has no stack named ${name}.`);
    return stack;
  }

  retry(): void {
    this.#cache.retry();
  }

  again(): void {
    this.#cache.again();
  }

  /** Plan to prefetch the next and the previous layer, as far as the stack goes. */
  #see(stack: RecordStack, number: number): void {
    if (this.#near?.stack === stack && this.#near.number === number) return;
    const { layers } = stack.info;
    const at = layers.findIndex((layer) => layer.number === number);
    const near = [layers[at + 1], layers[at - 1]].filter((layer) => layer !== undefined);
    this.#near = { stack, number, layers: near, bytes: 0 };
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
    if (near.stack.layer(near.number).peek().status !== "ready") return;
    for (let next = near.layers.shift(); next; next = near.layers.shift()) {
      const { number, bytes } = next;
      // Blocks hold 16 bits per number, decoded layers 32.
      const room = BUDGET - this.#cache.held - near.bytes;
      if (bytes > LARGEST_BLOCK || 2 * bytes > room) continue;
      near.bytes += 2 * bytes;
      if (near.stack.prefetch(number)) return;
    }
  }
}
