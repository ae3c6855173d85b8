/** Layers of any size without a record. */

import { LayerData } from "../../src/data/layer-data.ts";
import type { LayerInfo, Program, StackInfo, Tokens } from "../../src/data/manifest.ts";

export const positions = (count: number): Tokens => ({
  labels: Array.from({ length: count }, (_, n) => `${n}`),
  segments: null,
  special: [],
  words: null,
  patches: null,
  boxes: null,
  generated: null,
});

export interface Sizes {
  readonly heads: number;
  readonly key_heads: number;
  readonly dim: number;
  readonly num_queries: number;
  readonly num_keys: number;
}

/**
 * @param arrays by name: shape and values
 * @param more of the layer, as of one without a softmax
 */
export function layerWith(
  sizes: Sizes,
  program: Program | null,
  arrays: Readonly<Record<string, readonly [shape: readonly number[], values: ArrayLike<number>]>>,
  more: Partial<LayerInfo> = {},
): LayerData {
  const info: LayerInfo = {
    number: 0,
    heads: sizes.heads,
    key_heads: sizes.key_heads,
    dim: sizes.dim,
    rotary: null,
    sums: null,
    bytes: 0,
    program,
    fidelity: { exact: null, module: "", tolerance: 1e-5, labels: null },
    ...more,
  };
  const stack: StackInfo = {
    name: "self",
    sampled: null,
    text: null,
    queries: positions(sizes.num_queries),
    keys: positions(sizes.num_keys),
    layers: [info],
  };
  const decoded = Object.entries(arrays).map(([name, [shape, values]]) => {
    return [name, { shape, values: Float32Array.from(values) }] as const;
  });
  return new LayerData(stack, info, new Map(decoded));
}

/** Reproducible noise between -1 and 1. */
export function noise(count: number, seed = 1): Float32Array {
  return Float32Array.from({ length: count }, (_, n) => Math.sin((n + 1) * 12.9898 * seed) ** 3);
}

/** A causal layer of random vectors. */
export function noisyLayer(tokens: number, heads = 2, dim = 8): LayerData {
  const sizes = { heads, key_heads: heads, dim, num_queries: tokens, num_keys: tokens };
  const program: Program = {
    scale: 2,
    mask: "causal",
    window: null,
    blocks: null,
    softcap: null,
    sinks: null,
    bias: false,
    relative: false,
  };
  const shape = [heads, tokens, dim];
  const count = heads * tokens * dim;
  return layerWith(sizes, program, {
    queries: [shape, noise(count, 3)],
    keys: [shape, noise(count, 5)],
  });
}

/** All weights of a head, row by row. */
export const matrixOf = (layer: LayerData, head: number): number[] =>
  Array.from({ length: layer.numQueries }, (_, i) => [...layer.weightRow(head, i)]).flat();
