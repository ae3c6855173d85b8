/** Checks the parts of a block against its layer, before memory is allocated for them. */

import { fields, integer, isValid, list, maybe, text } from "../basics/reader.ts";
import type { Arrays } from "./arrays.ts";
import {
  type Block,
  blockError,
  checkPart,
  decodeBlock,
  type PackedBlock,
  type Part,
  unpack,
} from "./codec.ts";
import { CHANNELS, LOW, MOST_LOW } from "./integers.ts";
import { type LayerInfo, type LensInfo, type Side, type StackInfo, whyNot } from "./manifest.ts";

/** The sizes that each axis of an array may have, by the array's name. */
export type Shapes = ReadonlyMap<string, readonly (readonly number[])[]>;

const parts = list(fields({ name: text(), dtype: text(), shape: list(integer(0)) }));

/**
 * Check the arrays of a block against the shapes of its layer.
 *
 * @param error the block's rounding errors
 * @param shapesOf returns the shapes for what was sent
 */
export function checkParts(
  sent: unknown,
  error: unknown,
  shapesOf: (parts: readonly Part[]) => Shapes,
): void {
  if (!isValid(parts, sent) || !isValid(maybe(blockError), error)) {
    throw new Error("The data of this layer is damaged.");
  }
  const own = sent as readonly Part[];
  const left = new Map(shapesOf(own));
  for (const part of own) {
    const { name, shape } = part;
    const axes = left.get(name);
    // Each may appear once.
    left.delete(name);
    const fits =
      axes?.length === shape.length && axes.every((sizes, axis) => sizes.includes(shape[axis]));
    if (!fits)
      throw new Error(`The ${name} of this layer do not have the shape that its record says.`);
    checkPart(part);
  }
  for (const name of left.keys()) {
    if (!OPTIONAL.includes(name)) throw new Error(`This layer has no ${name}.`);
  }
}

/** Arrays that only some rounded layers have. */
const OPTIONAL = ["step", "outer", "turns", "decimals"];

/** Throw if an array holds NaN or infinity, which would spoil the attention of a layer. */
export function checkNumbers(arrays: Arrays): void {
  for (const [name, { values }] of arrays) {
    // A bias or a score may be -Infinity, which masks a key.
    const masks = ["bias", "relative", "scores"].includes(name);
    let sum = 0;
    if (masks) for (let n = 0; n < values.length; n++) sum += Number(!(values[n] < Infinity));
    // The sum is 0 for finite numbers, else NaN.
    else for (let n = 0; n < values.length; n++) sum += values[n] * 0;
    if (sum !== 0) throw new Error(`The ${name} of this layer are damaged.`);
  }
}

/** The arrays of a block that was sent, which have the shapes that they should have. */
export async function checked(
  sent: Block | PackedBlock,
  shapes: (parts: Block["parts"]) => Shapes,
): Promise<Arrays> {
  checkParts(sent.parts, sent.error, shapes);
  const arrays = decodeBlock("data" in sent ? await unpack(sent) : sent);
  checkNumbers(arrays);
  return arrays;
}

/** The shapes of the arrays of a layer's block. */
export function layerShapes(
  { name, queries, keys }: StackInfo,
  layer: LayerInfo,
  lenses: readonly LensInfo[],
  sent: readonly Part[],
): Shapes {
  const [rows, columns] = [queries.labels.length, keys.labels.length];
  const { heads, key_heads, dim, program, recurrence } = layer;
  const shapes = new Map<string, number[][]>();
  const add = (name: string, ...axes: number[][]) => shapes.set(name, axes);
  const parts = new Map(sent.map((part) => [part.name, part]));
  const turned = program !== null && parts.has("inner");
  /** Add the parts beside the symbols of integers in this many channels of this length. */
  const addIntegers = (name: string, channels: number, length: number) => {
    if (!parts.has(name + CHANNELS)) return;
    add(name + CHANNELS, [3], [channels]);
    const bits = parts.get(name + LOW)?.shape[0] ?? 0;
    add(name + LOW, [Math.min(bits, MOST_LOW * channels * length)]);
  };
  if (dim !== null) {
    // Components that are coded together for all tokens come before the tokens.
    const vectors = (tokens: number) => (turned ? [[dim], [tokens]] : [[tokens], [dim]]);
    add("queries", [recurrence?.query_heads ?? heads], ...vectors(rows));
    add("keys", [key_heads], ...vectors(columns));
    addIntegers("queries", heads * dim, rows);
    addIntegers("keys", key_heads * dim, columns);
    if (parts.has("query_steps")) {
      add("query_steps", [heads], [dim]);
      add("key_steps", [key_heads], [dim]);
    }
  }
  for (const lens of lenses)
    if (lens.kind === "factors" && !whyNot(lens, name, layer.number))
      add(factorsOf(lens), [heads], [columns]);
  add("decimals", [heads], [rows]);
  add("step", [1]);
  if (turned && dim !== null) {
    add("inner", [key_heads], [dim]);
    add("outer", [key_heads], [dim]);
    add("turns", [key_heads], [dim], [dim]);
  }
  if (recurrence) {
    const { decay, write, erase } = recurrence;
    if (decay) add("decay", [heads], [rows], [decay]);
    if (write) add("write", [heads], [rows]);
    if (erase) add("erase", [heads], [rows]);
    return shapes;
  }
  if (layer.signed) {
    // The viewer's are as they were recorded.
    if (parts.get("coefficients")?.dtype !== "f32") add("steps", [heads]);
    return add("coefficients", [heads], [rows], [columns]);
  }
  if (!program) {
    addIntegers("weights", heads * columns, rows);
    // The weights that one key receives from all queries are coded together.
    const axes = parts.has(`weights${CHANNELS}`) ? [columns, rows] : [rows, columns];
    return add("weights", [heads], ...axes.map((size) => [size]));
  }
  const { blocks } = program;
  const table = [
    [1, heads],
    [1, rows, ...(blocks ? [blocks[0]] : [])],
  ];
  table.push([blocks ? Math.min(blocks[1], columns) : columns]);
  if (program.mask === "explicit") add("visible", ...table);
  if (program.bias) add("bias", ...table);
  if (program.relative) add("relative", [1, heads], [rows + columns - 1]);
  return shapes;
}

export function combinedShapes({ queries, keys }: StackInfo): Shapes {
  const axes = [[queries.labels.length], [keys.labels.length]];
  return new Map(["mean", "max", "head"].map((name) => [name, axes]));
}

/**
 * The mean of all heads of the rows of a running text, their shares of sentences, and sinks; and
 * the first two by lenses of factors, where all layers have them.
 */
export function textShapes(
  { name, queries, keys, layers, text }: StackInfo,
  lenses: readonly LensInfo[],
): Shapes {
  const rows = [text?.answer?.labels.length ?? queries.labels.length];
  const heads = layers.reduce((sum, layer) => sum + layer.heads, 0);
  const tokens = [keys.labels.length];
  const factors = lenses.filter(
    (lens) => lens.kind === "factors" && !layers.some(({ number }) => whyNot(lens, name, number)),
  );
  const ofLenses = ["", ...factors.map((lens) => ` ${lens.name}`)];
  return new Map([
    ["sinks", [tokens]],
    ...ofLenses.flatMap((of): [string, number[][]][] => [
      [`mean${of}`, [rows, tokens]],
      [`shares${of}`, [rows, [text?.sentences.length ?? 0], [heads]]],
    ]),
  ]);
}

/** The beginning of the names of arrays with factors. */
export const FACTORS = "factors of ";

/** The name of the array with the factors of a lens. */
export const factorsOf = ({ name }: LensInfo): string => FACTORS + name;

/** The matrices of a lens, of every head or of the layer, as integers times a step each. */
export function numbersShapes(
  { queries, keys }: StackInfo,
  { heads }: LayerInfo,
  { kind }: LensInfo,
): Shapes {
  const count = [kind === "heads" ? heads : 1];
  const [rows, columns] = [queries, keys].map(({ labels }) => [labels.length]);
  return new Map([
    ["numbers", [count, rows, columns]],
    ["steps", [count]],
  ]);
}

/** The shapes of one row or column of every head of a layer. */
export function rowShapes({ queries, keys }: StackInfo, layer: LayerInfo, side: Side): Shapes {
  const kept = layer.signed ? "coefficients" : "weights";
  const name = side === "query" && layer.program ? "scores" : kept;
  return new Map([[name, [[layer.heads], [(side === "query" ? keys : queries).labels.length]]]]);
}
