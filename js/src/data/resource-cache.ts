/**
 * A cache of things that take time to arrive, within a budget of bytes.
 *
 * Things are asked for when someone begins to watch them, and kept while someone does. Of the others,
 * those that were watched or fetched longest ago go first; watched again, they are asked for again.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals-core";

export type Loaded<Data> =
  | { readonly status: "loading" }
  | { readonly status: "ready"; readonly data: Data }
  | {
      readonly status: "failed";
      readonly message: string;
      /** True where it is absent, rather than broken. */
      readonly absent?: true | undefined;
    };

/** Said instead of what is not there though nothing is broken: it was left out, or the kernel is gone. */
export class Absent extends Error {}

/** A thing that arrived, and its size. */
export interface Delivery<Data> {
  readonly data: Data;
  readonly bytes: number;
}

/** Aborted where nobody wants it any more; what comes all the same is kept. */
export type Ask<Data> = (signal: AbortSignal) => Promise<Delivery<Data>>;

interface Item<Data> {
  readonly state: Signal<Loaded<Data>>;
  readonly ask: Ask<Data>;
  watched: boolean;
  /** While it is asked for. */
  asking: AbortController | null;
  bytes: number;
}

const LOADING = { status: "loading" } as const;

export class ResourceCache<Data> {
  /** In the order of use: what was watched or prefetched last stands last. */
  readonly #items = new Map<string, Item<Data>>();

  /** @param changed called when something arrived, or is watched that is there already. */
  constructor(
    private readonly budget: number,
    private readonly changed: () => void = () => {},
  ) {}

  /** The thing of this name, which `ask` brings. */
  get<Kind extends Data>(key: string, ask: Ask<Kind>): ReadonlySignal<Loaded<Kind>> {
    const known = this.#items.get(key) ?? this.#add(key, ask);
    return known.state as ReadonlySignal<Loaded<unknown>> as ReadonlySignal<Loaded<Kind>>;
  }

  /** True while anything that is watched has still to arrive. */
  get waiting(): boolean {
    return [...this.#items.values()].some(({ watched, asking }) => watched && asking);
  }

  /** The bytes of everything that is watched. */
  get held(): number {
    return this.#sum(({ watched }) => watched);
  }

  /** Ask for what nobody watches yet, unless it is there or under way. Returns whether it asked. */
  fetch<Kind extends Data>(key: string, ask: Ask<Kind>): boolean {
    const item = this.#items.get(key) ?? this.#add(key, ask);
    this.#touch(key, item);
    if (item.asking || item.state.peek().status === "ready") return false;
    void this.#load(item);
    return true;
  }

  /** Ask again for what failed and is watched, because the source has changed. */
  retry(): void {
    for (const item of this.#items.values()) {
      const failed = item.state.peek().status === "failed";
      if (failed && item.watched && !item.asking) void this.#load(item);
    }
  }

  /** Ask once more for what is watched and has not come. The first answer counts. */
  again(): void {
    for (const item of this.#items.values()) {
      if (item.watched && item.asking) void this.#load(item);
    }
  }

  #add(key: string, ask: Ask<Data>): Item<Data> {
    const item: Item<Data> = {
      state: signal<Loaded<Data>>(LOADING, {
        watched: () => {
          item.watched = true;
          this.#touch(key, item);
          if (item.state.peek().status === "ready") this.changed();
          else if (!item.asking) void this.#load(item);
        },
        unwatched: () => {
          item.watched = false;
          // A view that is built anew lets go of it, and takes it up again at once.
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

  #touch(key: string, item: Item<Data>): void {
    this.#items.delete(key);
    this.#items.set(key, item);
  }

  async #load(item: Item<Data>): Promise<void> {
    const asking = new AbortController();
    const before = item.asking;
    // Asked for again, neither answer may be wanted any more.
    if (before) asking.signal.addEventListener("abort", () => before.abort());
    item.asking = asking;
    try {
      const { data, bytes } = await item.ask(asking.signal);
      // Asked for again, it has come already.
      if (!item.asking) return;
      item.bytes = bytes;
      item.asking = null;
      item.state.value = { status: "ready", data };
    } catch (error) {
      // Asked for again, it may still come.
      if (item.asking !== asking) return;
      item.asking = null;
      if (asking.signal.aborted) {
        if (item.watched) void this.#load(item);
        return;
      }
      // A failure that nobody watches leaves it as if it had not been asked for.
      if (item.watched) {
        const message = error instanceof Error ? error.message : `${error}`;
        const absent = error instanceof Absent || undefined;
        item.state.value = { status: "failed", message, absent };
      }
    }
    this.#makeRoom();
    this.changed();
  }

  #makeRoom(): void {
    let over = this.#sum(() => true) - this.budget;
    for (const item of this.#items.values()) {
      if (over <= 0) return;
      if (item.watched || !item.bytes) continue;
      over -= item.bytes;
      item.bytes = 0;
      item.state.value = LOADING;
    }
  }

  #sum(which: (item: Item<Data>) => boolean): number {
    return [...this.#items.values()].reduce((sum, item) => sum + (which(item) ? item.bytes : 0), 0);
  }
}
