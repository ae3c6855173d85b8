/** Decodes blocks: mirrors `attnwidget/wire/block.py` and `wire/compression/layer.py`. */

import { inflate } from "../basics/bytes.ts";
import { fields, integer, isValid, number, optional, type Read, where } from "../basics/reader.ts";
import type { Arrays } from "./arrays.ts";
import { unrounded } from "./balanced.ts";
import { withIntegers } from "./integers.ts";

export interface Part {
  readonly name: string;
  readonly dtype: "f16" | "f32" | "bits" | "i8" | "i16";
  readonly shape: readonly number[];
}

/** The arrays of one layer as bytes, in the order of `parts`. */
export interface Block {
  readonly parts: readonly Part[];
  readonly buffers: readonly Uint8Array[];
  /** The differences between the weights computed from the block and those of the record. */
  readonly error?: BlockError | undefined;
}

const amount = where(number, (value) => (isValid(integer(0), Math.ceil(value)) ? null : ""));

/** The differences between the numbers computed from a block and those of the record. */
export const blockError = fields({
  /** The largest difference of a weight. */
  largest: amount,
  /** The number of sampled rows that `largest` was measured in; missing if in all. */
  rows: optional(integer(1)),
  /**
   * The mean over all rows of half the sum of differences, which is the share of attention that
   * moved, for a compressed block.
   */
  variation: optional(amount),
  /** The largest difference of a component of a query or key. */
  vectors: optional(amount),
  /** The largest difference of a score. */
  scores: optional(amount),
  /** The largest difference of a share of a row, if there are factors of lenses. */
  shares: optional(amount),
});

export type BlockError = Read<typeof blockError>;

/** A packed block: the bytes of its arrays, one after the other, compressed with zlib. */
export interface PackedBlock<Data = Uint8Array> {
  readonly parts: readonly Part[];
  readonly error: BlockError | null;
  readonly data: Data;
}

export const count = (shape: readonly number[]) => shape.reduce((product, n) => product * n, 1);

const BITS = { f16: 16, f32: 32, bits: 1, i8: 8, i16: 16 };

export const byteLength = ({ shape, dtype }: Part) => Math.ceil((count(shape) * BITS[dtype]) / 8);

/** The most numbers of an array: more are taken for damage instead of filling the memory. */
const MOST_NUMBERS = 2 ** 27;

/** Throw if an array has an unknown type, or more numbers than can be shown. */
export function checkPart({ name, dtype, shape }: Part): void {
  if (!Object.hasOwn(BITS, dtype))
    throw new Error(`This view cannot read arrays of type ${dtype}.`);
  if (!(count(shape) <= MOST_NUMBERS)) {
    throw new Error(`The ${name} of this layer are too large to show.`);
  }
}

/** Unpack a block from one compressed buffer. */
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

/** Decode every array of a layer as float32 (booleans as 0 and 1). */
export function decodeBlock(block: Block): Arrays {
  const parts = new Map(
    block.parts.map((part, index) => {
      checkPart(part);
      const bytes = block.buffers[index];
      if (bytes?.length !== byteLength(part)) {
        throw new Error(`The ${part.name} of this layer are incomplete.`);
      }
      return [part.name, { shape: part.shape, values: decode(part, bytes) }];
    }),
  );
  return unrounded(withIntegers(parts));
}

function decode({ dtype, shape }: Part, bytes: Uint8Array): Float32Array {
  // A copy begins where numbers of any size may begin. They are little-endian, as all browsers' machines are.
  const { buffer } = bytes.slice();
  if (dtype === "f32") return new Float32Array(buffer);
  if (dtype === "i8") return new Float32Array(new Int8Array(buffer));
  if (dtype === "i16") return new Float32Array(new Int16Array(buffer));
  const out = new Float32Array(count(shape));
  if (dtype === "f16") {
    const halves = new Uint16Array(buffer);
    for (let i = 0; i < out.length; i++) out[i] = float16(halves[i]);
  } else for (let i = 0; i < out.length; i++) out[i] = (bytes[i >> 3] >> (7 - (i & 7))) & 1;
  return out;
}

/** The value of an IEEE 754 half-precision number. */
export function float16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}
