/** Requests to the kernel: {id, op, …}, answered by a reply with the same id. */

import { Turns } from "../scheduling/turns.ts";
import type { Block, BlockError, Part } from "./codec.ts";
import {
  type Effect,
  type Ratios,
  readChanges,
  readEffect,
  readOthers,
  readRatios,
} from "./effect.ts";
import type { Side } from "./manifest.ts";
import { Absent } from "./resource-cache.ts";

export interface Channel {
  send(content: unknown): void;
  on(event: "msg:custom", handler: (content: unknown, buffers: unknown) => void): void;
  off(event: "msg:custom", handler: (content: unknown, buffers: unknown) => void): void;
}

interface Reply {
  id?: unknown;
  error?: string;
  /** True if the reader has to bring something, as a model, and nothing is broken. */
  absent?: true;
  /** True if the request was aborted. */
  aborted?: true;
  parts?: Part[];
  rounding?: BlockError | null;
  effect?: unknown;
  others?: unknown;
  manifest?: unknown;
  changes?: unknown;
  text?: unknown;
  ratios?: unknown;
  /** Of a piece of a reply: its first byte in the whole, and the sizes of what the whole is. */
  at?: number;
  sizes?: readonly number[];
}

/** Reads a reply and the bytes that come with it, or throws. */
type Read<Answer> = (reply: Reply, buffers: Iterable<unknown>) => Answer;

/** The heads and links of a stack that are switched off. */
export interface Off {
  readonly stack: string;
  readonly heads: readonly (readonly [layer: number, head: number])[];
  /** Cut links: queries, keys, layers and heads each, null for all. */
  readonly cut: readonly (readonly (readonly number[] | null)[])[];
}

/** Links from all rows that wrote an answer to some keys. */
export interface Cut {
  readonly keys: readonly number[];
  /** Of these heads alone; null for all. */
  readonly heads: readonly (readonly [layer: number, head: number])[] | null;
}

/** Bytes in any form that a host delivers: DataView, typed array or ArrayBuffer. */
export function bytesOf(data: unknown): Uint8Array {
  if (ArrayBuffer.isView(data))
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  // An ArrayBuffer, perhaps of another frame. `Uint8Array` would turn a number into as many bytes.
  if (Object.prototype.toString.call(data) === "[object ArrayBuffer]") {
    return new Uint8Array(data as ArrayBuffer);
  }
  throw new Error("Bytes are missing.");
}

export class Requests {
  // Views of one widget share its channel and receive each other's replies.
  readonly #prefix = Math.random().toString(36).slice(2);
  #count = 0;
  readonly #waiting = new Map<string, (reply: Reply, buffers: Iterable<unknown>) => void>();
  readonly #blocks: Turns;
  // A separate queue, so that blocks do not wait for a slow column.
  readonly #rows: Turns;
  readonly #effects: Turns;

  /** @param end aborted to stop all requests */
  constructor(
    private readonly channel: Channel,
    end: AbortSignal,
  ) {
    const receive = (content: unknown, buffers: unknown) => {
      const reply = content as Reply | null;
      if (typeof reply?.id !== "string") return;
      this.#waiting.get(reply.id)?.(reply, (buffers ?? []) as Iterable<unknown>);
    };
    channel.on("msg:custom", receive);
    this.#blocks = new Turns(end);
    this.#rows = new Turns(end);
    this.#effects = new Turns(end);
    end.addEventListener("abort", () => {
      channel.off("msg:custom", receive);
      const ids = [...this.#waiting.keys()];
      this.#waiting.clear();
      if (!ids.length) return;
      try {
        channel.send({ op: "abort", of: ids });
      } catch {
        // The channel is closed, so there is nothing to abort.
      }
    });
  }

  /**
   * The source of layers. The kernel can abort rows and columns, but no block.
   *
   * @param without what was off when the attention was recorded
   */
  source(without?: Off) {
    const block = (content: object, what: string, signal: AbortSignal): Promise<Block> =>
      this.#blocks.take(() => this.#ask({ ...content, without }, what, readBlock), signal);
    return {
      block: (stack: string, layer: number, signal: AbortSignal) =>
        block({ op: "block", stack, layer }, `layer ${layer}`, signal),
      /** The mean and the maximum over all heads of all layers. */
      combined: (stack: string, signal: AbortSignal) =>
        block({ op: "combined", stack }, "the combination of all layers", signal),
      /** The attention of a running text. */
      text: (stack: string, signal: AbortSignal) =>
        block({ op: "text", stack }, "the running text", signal),
      /** The matrices of a lens in a layer. */
      numbers: (stack: string, layer: number, lens: string) => (signal: AbortSignal) =>
        block({ op: "lens", stack, layer, lens }, `${lens} of layer ${layer}`, signal),
      /** Single rows or columns of every head of a layer. */
      rows: (stack: string, layer: number) => (side: Side, position: number, signal: AbortSignal) =>
        this.#run(
          { op: "row", stack, layer, side, position, without },
          `this row of layer ${layer}`,
          readBlock,
          signal,
          this.#rows,
        ),
    };
  }

  /**
   * Request what the model does without some heads and links.
   *
   * @param query the locked query
   */
  effect(off: Off, query: number | null, signal: AbortSignal): Promise<Effect> {
    const read = ({ effect }: Reply) => readEffect(effect);
    return this.#run({ op: "effect", ...off, query }, "the effect", read, signal);
  }

  /** Request the mean effects of as many other heads. */
  others(off: Off, signal: AbortSignal): Promise<readonly number[]> {
    const read = ({ others }: Reply) => readOthers(others);
    return this.#run({ op: "others", ...off }, "the effect of other heads", read, signal);
  }

  /** Request the change of the log probability of each token of the answer, for each cut. */
  cut(
    stack: string,
    cuts: readonly Cut[],
    signal: AbortSignal,
  ): Promise<readonly (readonly number[])[]> {
    const read = ({ changes }: Reply) => readChanges(changes);
    return this.#run({ op: "cut", stack, cuts }, "the effect of cuts", read, signal);
  }

  /** Request what the model writes if its answer has no links to some keys. */
  answer(stack: string, keys: readonly number[], signal: AbortSignal): Promise<string> {
    return this.#run({ op: "answer", stack, keys }, "the answer", ({ text }) => `${text}`, signal);
  }

  /** Request what places of the prompt get when its sentences stand in other orders. */
  shuffled(stack: string, signal: AbortSignal): Promise<Ratios> {
    const read = ({ ratios }: Reply) => readRatios(ratios);
    return this.#run({ op: "shuffled", stack }, "other orders", read, signal);
  }

  /** Request the attention without some heads and links, whose manifest is not yet checked. */
  changed(off: Off, signal: AbortSignal) {
    const read = ({ manifest }: Reply, [overview]: Iterable<unknown>) => ({
      manifest,
      overview: bytesOf(overview),
    });
    return this.#run({ op: "changed", ...off }, "the attention without them", read, signal);
  }

  /** Ask, in turn, for what the kernel can abort: by default, for what a run of the model shows. */
  #run<Answer>(
    content: object,
    what: string,
    read: Read<Answer>,
    signal: AbortSignal,
    turns = this.#effects,
  ): Promise<Answer> {
    return turns.take(() => this.#ask(content, what, read, signal), signal);
  }

  /**
   * @param what names the reply to the reader
   * @param signal if aborted, the kernel is told to stop
   */
  #ask<Answer>(
    content: object,
    what: string,
    read: Read<Answer>,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const id = `${this.#prefix}.${this.#count++}`;
    return new Promise((resolve, reject) => {
      const send = (message: object) => {
        try {
          this.channel.send(message);
        } catch {
          this.#waiting.delete(id);
          reject(
            new Absent(`The kernel is gone, so ${what} cannot be fetched: run the cell again.`),
          );
        }
      };
      let pieces: Pieces | undefined;
      this.#waiting.set(id, (message, sent) => {
        try {
          let [reply, buffers] = [message, sent];
          if (message.sizes) {
            pieces ??= new Pieces(message.sizes);
            const [piece] = sent;
            const whole = pieces.add(message.at ?? 0, bytesOf(piece));
            if (!whole) return;
            [reply, buffers] = whole as [Reply, Uint8Array[]];
          }
          if (reply.error !== undefined) {
            reject(reply.absent ? new Absent(`${reply.error}`) : new Error(`${reply.error}`));
          } else if (reply.aborted) reject(signal?.reason);
          else resolve(read(reply, buffers));
        } catch {
          reject(new Error(`The kernel's reply with ${what} is damaged.`));
        }
        this.#waiting.delete(id);
      });
      signal?.addEventListener("abort", () => {
        if (this.#waiting.has(id)) send({ op: "abort", of: [id] });
      });
      send({ id, ...content });
    });
  }
}

function readBlock({ parts = [], rounding }: Reply, buffers: Iterable<unknown>): Block {
  return { parts, buffers: [...buffers].map(bytesOf), error: rounding ?? undefined };
}

/** A reply that came in pieces: mirrors `attnwidget/wire/pieces.py`. */
class Pieces {
  readonly #bytes: Uint8Array;
  readonly #seen = new Set<number>();
  #missing: number;

  /** @param sizes of the reply's JSON, and of each of its buffers, in bytes */
  constructor(private readonly sizes: readonly number[]) {
    this.#missing = sizes.reduce((sum, size) => sum + size, 0);
    this.#bytes = new Uint8Array(this.#missing);
  }

  /**
   * Add a piece, in any order, perhaps once more.
   *
   * @param at its first byte in the whole
   * @returns the reply and its buffers, or null while pieces are missing
   */
  add(at: number, piece: Uint8Array): readonly [unknown, readonly Uint8Array[]] | null {
    if (this.#seen.has(at)) return null;
    this.#seen.add(at);
    this.#bytes.set(piece, at);
    this.#missing -= piece.length;
    if (this.#missing) return null;
    let end = 0;
    const [json, ...buffers] = this.sizes.map((size) => {
      const start = end;
      end += size;
      return this.#bytes.subarray(start, end);
    });
    return [JSON.parse(new TextDecoder().decode(json)), buffers];
  }
}
