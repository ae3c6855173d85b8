/** Unpacks a block from one compressed buffer: mirrors `attnwidget/wire/compression/layer.py`. */

import { inflate } from "../basics/bytes.ts";
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
