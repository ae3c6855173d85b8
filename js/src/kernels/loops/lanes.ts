/**
 * What differs between JavaScript, where a vector has one lane, and WebAssembly, where it has four:
 * `assembly/lanes.ts` has the same for that.
 */

import {
  bytes,
  doubles,
  type f32,
  type f64,
  floats,
  type i32,
  type usize,
  type v128,
} from "./builtins.ts";

/** The numbers of a vector, in single and in double precision. */
export const LANES: i32 = 1;
export const WIDE: i32 = 1;

/** Space of 128 bytes for a loop's own numbers. */
export const SCRATCH: usize = 0;

/** The first address that the loops do not use themselves, a multiple of 16. */
export const free: usize = 128;

/** The integer part of a number, and the integer below it. */
export const whole = (value: f32): i32 => value | 0;
export const wholeBelow = Math.floor;

/** The exponential of numbers that are at most 0, in single precision. */
export const exp = (value: v128): v128 => Math.fround(Math.exp(value));

export const largestLane = (value: v128): f32 => value;

/** One lane in all lanes. */
export const first = (value: v128): v128 => value;
export const second = first;
export const third = first;
export const fourth = first;

/** The places of the lanes, from 1. */
export const places = (): v128 => 1;

/** The lanes before those of `next`; before its first is the last of `before`. */
export const lanesBefore = (before: v128, _next: v128): v128 => before;

/** The first `count` lanes, and 0 in the others. */
export const firstLanes = (value: v128, _count: i32): v128 => value;

/** Store four numbers: the sums over the lanes of each vector, times `factor`. */
export function storeSums(at: usize, a: v128, b: v128, c: v128, d: v128, factor: v128): void {
  const n = at >> 2;
  floats[n] = a * factor;
  floats[n + 1] = b * factor;
  floats[n + 2] = c * factor;
  floats[n + 3] = d * factor;
}

/** Store numbers from 0 to 255 as bytes, rounded. */
export function storeBytes(at: usize, value: v128): void {
  bytes[at] = value;
}
export const storeByte: (at: usize, value: f32) => void = storeBytes;

/** Four numbers that a loop reads often: an address here, but a vector in WebAssembly. */
export const four = (at: usize): v128 => at;
export const partOf = (four: v128, part: usize): v128 => floats[(four + part) >> 2];

export const loadWide = (at: usize): v128 => doubles[at >> 3];
export function storeWide(at: usize, value: v128): void {
  doubles[at >> 3] = value;
}
export const splatOfWide = loadWide;
/** Load as many numbers in single precision as a wide vector has. */
export const loadWidened = (at: usize): v128 => floats[at >> 2];
/** The second half of a vector as a wide one; here, the first is all. */
export const secondHalf = (_value: v128): v128 => 0;
export const sumOfWide = (value: v128): f64 => value;
/** Store the lanes of a wide vector in single precision, `stride` bytes apart. */
export function storeApart(at: usize, _stride: usize, value: v128): void {
  floats[at >> 2] = value;
}
