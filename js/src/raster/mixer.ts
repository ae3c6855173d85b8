/** Blends the weights of all matrices, from one query to each key shown, into a row of colours. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { Kernels } from "../kernels/kernels.ts";

/** Each component 0 to 255. */
export type Ink = readonly [number, number, number];

export class Mixer {
  /** The sum of all weights so far, including keys that are not shown. */
  total = 0;
  readonly #mixed: Float32Array;
  /** [matrices, keys shown] */
  readonly #rows: Float32Array;
  readonly #inks: Float32Array;
  readonly #keys: Uint32Array;
  /** True if the keys shown are the first ones, without gaps. */
  readonly #unbroken: boolean;
  /** The number of keys shown up to the last with attention from the current query. */
  #seen = 0;

  static numbers(matrices: number, columns: number): number {
    return (matrices + 4) * columns + 4 * matrices;
  }

  constructor(
    private readonly matrices: readonly AttentionMatrix[],
    columns: readonly number[],
    inks: readonly Ink[],
    private readonly kernels: Kernels,
  ) {
    this.#mixed = kernels.floats(4 * columns.length);
    this.#rows = kernels.floats(matrices.length * columns.length);
    this.#inks = kernels.floats(4 * matrices.length);
    this.#inks.set(inks.flatMap((ink) => [...ink, 1]));
    this.#keys = Uint32Array.from(columns);
    this.#unbroken = columns.every((key, place) => key === place);
  }

  /** Per key up to the last with any attention: red, green, blue, and the largest weight. */
  get mixed(): Float32Array {
    return this.#mixed.subarray(0, 4 * this.#seen);
  }

  /** Blend the rows of a query. Returns the sum of the weights of the keys shown. */
  mix(query: number): number {
    const keys = this.#keys;
    const rows = this.#rows;
    let all = 0;
    let end = 0;
    this.matrices.forEach((matrix, n) => {
      const weights = matrix.row(query, true);
      const count = endOf(weights);
      all += sumOf(weights, count);
      end = Math.max(end, count);
      const start = n * keys.length;
      if (this.#unbroken) rows.set(weights.subarray(0, keys.length), start);
      else for (let at = 0; at < keys.length; at++) rows[start + at] = weights[keys[at]];
    });
    this.total += all;
    this.#seen = Math.min(end, keys.length);
    this.kernels.mix(rows, this.#inks, this.mixed);
    return this.#unbroken && this.#seen === end ? all : sumOf(rows, rows.length);
  }

  /** The sum over all matrices of the weight at a place in the keys shown. */
  weightAt(place: number): number {
    const { length } = this.#keys;
    let sum = 0;
    for (let at = place; at < this.#rows.length; at += length) sum += this.#rows[at];
    return sum;
  }
}

/** The length up to the last weight that is not 0. */
function endOf(weights: Float32Array): number {
  let end = weights.length;
  while (end > 0 && weights[end - 1] === 0) end--;
  return end;
}

/** The sum of values, as four partial sums, which the processor adds in parallel. */
function sumOf(values: Float32Array, count: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const whole = count - (count % 4);
  for (let n = 0; n < whole; n += 4) {
    a += values[n];
    b += values[n + 1];
    c += values[n + 2];
    d += values[n + 3];
  }
  for (let n = whole; n < count; n++) a += values[n];
  return a + b + c + d;
}
