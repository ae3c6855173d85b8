/**
 * A cache of resources that are fetched asynchronously, within a budget of bytes. A resource is
 * fetched when a signal begins to watch it, and kept while it is watched. Of the others, the least
 * recently used are dropped first; they are fetched again when they are watched again.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals-core";

export type Loaded<Data> =
  | { readonly status: "loading" }
  | { readonly status: "ready"; readonly data: Data }
  | {
      readonly status: "failed";
      readonly message: string;
      /** True if the resource is absent, rather than broken. */
      readonly absent?: true | undefined;
    };

/** The error for a resource that was left out, or whose kernel is gone: nothing is broken. */
export class Absent extends Error {}

export interface Delivery<Data> {
  readonly data: Data;
  readonly bytes: number;
}

/** Fetches a resource. The signal is aborted when nobody watches it any more. */
export type Ask<Data> = (signal: AbortSignal) => Promise<Delivery<Data>>;

interface Item {
  readonly state: Signal<Loaded<unknown>>;
  readonly ask: Ask<unknown>;
  watched: boolean;
  /** Aborts the request; null if there is none. */
  asking: AbortController | null;
  bytes: number;
}

const LOADING = { status: "loading" } as const;

export class ResourceCache {
  /** In order of use, the most recently watched or prefetched last. */
  readonly #items = new Map<string, Item>();

  /** @param changed called when a resource arrives, and when one that is here is watched. */
  constructor(
    private readonly budget: number,
    private readonly changed: () => void = () => {},
  ) {}

  /** The resource of this name, which `ask` fetches. */
  get<Data>(key: string, ask: Ask<Data>): ReadonlySignal<Loaded<Data>> {
    const item = this.#items.get(key) ?? this.#add(key, ask);
    return item.state as ReadonlySignal<Loaded<Data>>;
  }

  /** True while a watched resource is being fetched. */
  get waiting(): boolean {
    return [...this.#items.values()].some(({ watched, asking }) => watched && asking);
  }

  /** The bytes of all watched resources. */
  get held(): number {
    return this.#sum(({ watched }) => watched);
  }

  /** Prefetch a resource, unless it is here or being fetched. Returns true if it is requested. */
  fetch(key: string, ask: Ask<unknown>): boolean {
    const item = this.#items.get(key) ?? this.#add(key, ask);
    this.#touch(key, item);
    if (item.asking || item.state.peek().status === "ready") return false;
    void this.#load(item);
    return true;
  }

  /** Request watched resources that failed once more, because the source has changed. */
  retry(): void {
    for (const item of this.#items.values()) {
      const failed = item.state.peek().status === "failed";
      if (failed && item.watched && !item.asking) void this.#load(item);
    }
  }

  /** Request watched resources that have not arrived once more. The first answer counts. */
  again(): void {
    for (const item of this.#items.values()) {
      if (item.watched && item.asking) void this.#load(item);
    }
  }

  #add(key: string, ask: Ask<unknown>): Item {
    const item: Item = {
      state: signal<Loaded<unknown>>(LOADING, {
        watched: () => {
          item.watched = true;
          this.#touch(key, item);
          if (item.state.peek().status === "ready") this.changed();
          else if (!item.asking) void this.#load(item);
        },
        unwatched: () => {
          item.watched = false;
          // A rebuilt view stops watching, and watches again at once.
          queueMicrotask(() => {
            if (!item.watched) item.asking?.abort();
          });
        },
      }),
      ask,
      watched: false,
      asking: null,
      bytes: 0,
    };
    this.#items.set(key, item);
    return item;
  }

  #touch(key: string, item: Item): void {
    this.#items.delete(key);
    this.#items.set(key, item);
  }

  async #load(item: Item): Promise<void> {
    const asking = new AbortController();
    const before = item.asking;
    // With a repeated request, abort both.
    if (before) asking.signal.addEventListener("abort", () => before.abort());
    item.asking = asking;
    try {
      const { data, bytes } = await item.ask(asking.signal);
      // The answer to a repeated request came first.
      if (!item.asking) return;
      item.bytes = bytes;
      item.asking = null;
      item.state.value = { status: "ready", data };
    } catch (error) {
      // The answer to a repeated request may still come.
      if (item.asking !== asking) return;
      item.asking = null;
      if (asking.signal.aborted) {
        if (item.watched) void this.#load(item);
        return;
      }
      // A failure that nobody watches is forgotten.
      if (item.watched) {
        const message = error instanceof Error ? error.message : `${error}`;
        const absent = error instanceof Absent || undefined;
        item.state.value = { status: "failed", message, absent };
      }
    }
    this.#evict();
    this.changed();
  }

  #evict(): void {
    let over = this.#sum(() => true) - this.budget;
    for (const item of this.#items.values()) {
      if (over <= 0) return;
      if (item.watched || !item.bytes) continue;
      over -= item.bytes;
      item.bytes = 0;
      item.state.value = LOADING;
    }
  }

  #sum(which: (item: Item) => boolean): number {
    return [...this.#items.values()].reduce((sum, item) => sum + (which(item) ? item.bytes : 0), 0);
  }
}
