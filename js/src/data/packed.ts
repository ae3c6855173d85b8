/** Unpacks a block from one compressed buffer: mirrors `attnwidget/wire/compression/layer.py`. */

import { type Block, type BlockError, byteLength, type Part } from "./codec.ts";

export interface PackedHeader {
  readonly parts: readonly Part[];
  readonly error: BlockError | null;
}

/** A packed block: the bytes of its arrays, one after the other, compressed with zlib. */
export interface PackedBlock extends PackedHeader {
  readonly data: Uint8Array;
}

export async function unpack({ parts, error, data }: PackedBlock): Promise<Block> {
  const lengths = parts.map(byteLength);
  const all = await inflate(
    data,
    lengths.reduce((sum, length) => sum + length, 0),
    "layer",
  );
  let end = 0;
  const buffers = lengths.map((length) => {
    const start = end;
    end += length;
    return all.subarray(start, end);
  });
  return { parts, buffers, error: error ?? undefined };
}

/**
 * Inflate exactly `length` bytes, so that a damaged block cannot fill the memory.
 *
 * @param of the name of what the bytes belong to
 */
export async function inflate(data: Uint8Array, length: number, of: string): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser cannot unpack the layers of this page. Use a browser from 2023 or later.",
    );
  }
  const incomplete = new Error(`This ${of} is incomplete or damaged.`);
  const out = new Uint8Array(length);
  let at = 0;
  const stream = new Blob([data as Uint8Array<ArrayBuffer>]).stream();
  const reader = stream.pipeThrough(new DecompressionStream("deflate")).getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw incomplete;
    });
    if (done) break;
    if (at + value.length > length) {
      void reader.cancel();
      throw incomplete;
    }
    out.set(value, at);
    at += value.length;
  }
  if (at < length) throw incomplete;
  return out;
}
