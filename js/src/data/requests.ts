/** Requests to the kernel: {id, op, …} out, a reply with the same id in. */

import { type Block, type BlockName, blockTitle, type Part } from "./codec.ts";

/** What of an anywidget model a conversation needs. */
export interface Channel {
  send(content: unknown): void;
  on(event: "msg:custom", handler: (content: unknown, buffers: unknown) => void): void;
  off(event: "msg:custom", handler: (content: unknown, buffers: unknown) => void): void;
}

interface Reply {
  id?: unknown;
  error?: string;
  parts?: Part[];
}

/** Bytes from whatever a host delivers: DataView, typed array or ArrayBuffer. */
export function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

export class Requests {
  // Two views of one widget share its channel, and each hears the other's replies.
  readonly #prefix = Math.random().toString(36).slice(2);
  #count = 0;
  readonly #waiting = new Map<string, (reply: Reply, buffers: ArrayBufferView[]) => void>();

  constructor(
    private readonly channel: Channel,
    signal: AbortSignal,
  ) {
    const receive = (content: unknown, buffers: unknown) => {
      const reply = content as Reply | null;
      if (typeof reply?.id !== "string") return;
      const answer = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      answer?.(reply, (buffers ?? []) as ArrayBufferView[]);
    };
    channel.on("msg:custom", receive);
    signal.addEventListener("abort", () => {
      channel.off("msg:custom", receive);
      this.#waiting.clear();
    });
  }

  block(stack: string, layer: BlockName): Promise<Block> {
    const id = `${this.#prefix}.${this.#count++}`;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (reply, buffers) => {
        if (reply.error !== undefined) reject(new Error(reply.error));
        else resolve({ parts: reply.parts ?? [], buffers: buffers.map(bytesOf) });
      });
      try {
        this.channel.send({ id, op: "block", stack, layer });
      } catch {
        this.#waiting.delete(id);
        reject(
          new Error(
            `The kernel is gone, so ${blockTitle(layer)} cannot be fetched: run the cell again.`,
          ),
        );
      }
    });
  }
}
