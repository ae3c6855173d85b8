/**
 * The built-in types and instructions of AssemblyScript that the loops use, for JavaScript: here a
 * vector has one lane, and is a number. Addresses count bytes of the memory that `workIn` sets.
 */

export type bool = boolean;
export type i32 = number;
export type usize = number;
export type f32 = number;
export type f64 = number;
export type v128 = number;

export interface Memory {
  readonly floats: Float32Array<ArrayBuffer>;
  readonly doubles: Float64Array<ArrayBuffer>;
  readonly bytes: Uint8ClampedArray<ArrayBuffer>;
}

export let floats = new Float32Array(0);
export let doubles = new Float64Array(0);
export let bytes = new Uint8ClampedArray(0);

/** Work in this memory from now on. */
export function workIn(memory: Memory): void {
  ({ floats, doubles, bytes } = memory);
}

const load = (at: usize) => floats[at >> 2];
const store = (at: usize, value: f32) => {
  floats[at >> 2] = value;
};

export const f32 = { load, store };
export const v128 = { load, store, load32_splat: load, load32_zero: load };

const splat = (value: number) => value;
const add = (a: number, b: number) => a + b;
const mul = (a: number, b: number) => a * b;

export const f32x4 = {
  splat,
  add,
  mul,
  sub: (a: v128, b: v128) => a - b,
  div: (a: v128, b: v128) => a / b,
  pmin: (a: v128, b: v128) => (b < a ? b : a),
  pmax: (a: v128, b: v128) => (a < b ? b : a),
  abs: Math.abs,
  floor: Math.floor,
  ceil: Math.ceil,
  sqrt: Math.sqrt,
};

export const f64x2 = { splat, add, mul, promote_low_f32x4: splat };

export const min = (a: i32, b: i32) => (b < a ? b : a);
