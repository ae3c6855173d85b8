/** Decodes blocks and thumbnails: mirrors `attnwidget/wire/block.py` and `manifest.py`. */

import { fields, integer, isValid, number, optional, type Read, where } from "../basics/reader.ts";
import type { Arrays } from "./arrays.ts";
import { unrounded } from "./balanced.ts";
import { withIntegers } from "./integers.ts";
import {
  ATTENTION,
  hasThumbnails,
  type LayerInfo,
  type LensInfo,
  type Manifest,
  type StackInfo,
  whyNot,
} from "./manifest.ts";

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

function decode(part: Part, bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out = new Float32Array(count(part.shape));
  switch (part.dtype) {
    case "f16":
      for (let i = 0; i < out.length; i++) out[i] = float16(view.getUint16(2 * i, true));
      return out;
    case "f32":
      for (let i = 0; i < out.length; i++) out[i] = view.getFloat32(4 * i, true);
      return out;
    case "i8":
      for (let i = 0; i < out.length; i++) out[i] = view.getInt8(i);
      return out;
    case "i16":
      for (let i = 0; i < out.length; i++) out[i] = view.getInt16(2 * i, true);
      return out;
    case "bits":
      for (let i = 0; i < out.length; i++) out[i] = (bytes[i >> 3] >> (7 - (i & 7))) & 1;
      return out;
  }
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

/** The longest side of a thumbnail, in cells. */
const THUMBNAIL_SIZE = 32;

/** The pooled matrix of a head: levels 0 to 15, the square root of the largest weight in a cell. */
export interface Thumbnail {
  readonly rows: number;
  readonly columns: number;
  readonly levels: Uint8Array;
  /** 1 below zero, as where B has less; missing for weights. */
  readonly less?: Uint8Array;
}

/** The pooled difference of a head, or its scores: the square roots of magnitudes, and the signs. */
export interface SignedThumbnail extends Thumbnail {
  readonly less: Uint8Array;
}

/** Thumbnails by stack, layer and head. */
export type Thumbnails = readonly (readonly (readonly Thumbnail[])[])[];

export interface Overview {
  /** By lens; none of a layer that lacks it, or of a profile. */
  readonly lenses: ReadonlyMap<string, Thumbnails>;
  /** Thumbnails of B − A, by lens. */
  readonly differences: ReadonlyMap<
    string,
    ReadonlyMap<StackInfo, readonly (readonly SignedThumbnail[])[]>
  >;
}

/** The level of zero among signed levels, and the most above and below it. */
const ZERO = 8;
export const MOST_LEVELS = 7;

/** Decode the thumbnails. */
export function decodeOverview(manifest: Manifest, bytes: Uint8Array): Overview {
  const { stacks, lenses, texts } = manifest;
  const compared = [...(manifest.compared?.stacks.values() ?? [])];
  const travelling = texts === null ? lenses.filter(hasThumbnails) : [];
  let offset = 0;
  const next = (rows: number, columns: number): Thumbnail => {
    const levels = new Uint8Array(rows * columns);
    for (let i = 0; i < levels.length; i++) {
      const pair = bytes[offset + (i >> 1)];
      levels[i] = i & 1 ? pair & 15 : pair >> 4;
    }
    offset += Math.ceil(levels.length / 2);
    if (offset > bytes.length) throw new Error("The thumbnails of this record are incomplete.");
    return { rows, columns, levels };
  };
  const signed = (rows: number, columns: number): SignedThumbnail => {
    const { levels } = next(rows, columns);
    return {
      rows,
      columns,
      levels: levels.map((level) => Math.abs(level - ZERO)),
      less: levels.map((level) => (level < ZERO ? 1 : 0)),
    };
  };
  const read = <Kind extends Thumbnail>(
    stack: StackInfo,
    thumbnail: (rows: number, columns: number) => Kind,
    has: (layer: LayerInfo) => boolean = () => true,
  ) => {
    const [rows, columns] = thumbnailSize(stack, manifest);
    return stack.layers.map((layer) =>
      Array.from({ length: has(layer) ? layer.heads : 0 }, () => thumbnail(rows, columns)),
    );
  };
  const attention = stacks.map((stack) => read(stack, next));
  const ofLens = (lens: LensInfo) =>
    stacks.map((stack) =>
      read(stack, lens.signed ? signed : next, ({ number }) => !whyNot(lens, stack.name, number)),
    );
  const ofDifference = (name: string) =>
    new Map(
      compared.map(({ difference }) => [
        difference,
        read(difference, signed, ({ peaks }) => peaks?.[name] !== undefined),
      ]),
    );
  return {
    lenses: new Map([
      [ATTENTION.name, attention],
      ...travelling.map((lens) => [lens.name, ofLens(lens)] as const),
    ]),
    differences: new Map(
      [ATTENTION, ...travelling].map(({ name }) => [name, ofDifference(name)] as const),
    ),
  };
}

const thumbnailSize = ({ queries, keys }: StackInfo, { texts }: Manifest) =>
  [queries, keys].map(({ labels }) =>
    texts === null ? Math.min(labels.length, THUMBNAIL_SIZE) : THUMBNAIL_SIZE,
  ) as [number, number];
