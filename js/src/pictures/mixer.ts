/** What all sheets give from one query to each key shown, as one. */

import type { Sheet } from "../data/sheets.ts";
import type { Kernels } from "../kernels/kernels.ts";

/** Each component 0 to 255. */
export type Ink = readonly [number, number, number];

export class Mixer {
  /** Of all that the queries attend to so far, also outside of what is shown. */
  total = 0;
  readonly #mixed: Float32Array;
  readonly #rows: Float32Array;
  readonly #inks: Float32Array;
  readonly #keys: Uint32Array;
  /** Whether the keys shown are the first of all, with none left out. */
  readonly #unbroken: boolean;
  /** How many of the keys shown come before the end of what the query sees. */
  #seen = 0;

  /** How many numbers it holds. */
  static numbers(sheets: number, columns: number): number {
    return (sheets + 4) * columns + 4 * sheets;
  }

  /** @param columns in ascending order */
  constructor(
    private readonly sheets: readonly Sheet[],
    columns: readonly number[],
    inks: readonly Ink[],
    private readonly kernels: Kernels,
  ) {
    this.#mixed = kernels.floats(4 * columns.length);
    this.#rows = kernels.floats(sheets.length * columns.length);
    this.#inks = kernels.floats(4 * sheets.length);
    this.#inks.set(inks.flatMap((ink) => [...ink, 1]));
    this.#keys = Uint32Array.from(columns);
    this.#unbroken = columns.every((key, place) => key === place);
  }

  /** Per key, without those after the last that gets any: red, green, blue, and the largest weight. */
  get mixed(): Float32Array {
    return this.#mixed.subarray(0, 4 * this.#seen);
  }

  /** Returns what all sheets together give to the keys shown. */
  mix(query: number): number {
    const keys = this.#keys;
    const given = this.sheets.map((sheet) => sheet.row(query));
    const end = given.reduce((last, weights) => endOf(weights, last), 0);
    const all = given.reduce((sum, weights) => sum + sumOf(weights.subarray(0, end)), 0);
    this.total += all;
    let seen = Math.min(end, keys.length);
    if (!this.#unbroken) while (seen > 0 && keys[seen - 1] >= end) seen--;
    this.#seen = seen;
    const rows = this.#rows.subarray(0, given.length * seen);
    given.forEach((weights, sheet) => {
      const start = sheet * seen;
      if (this.#unbroken) rows.set(weights.subarray(0, seen), start);
      else for (let n = 0; n < seen; n++) rows[start + n] = weights[keys[n]];
    });
    this.kernels.mix(rows, this.#inks, this.mixed);
    return this.#unbroken && seen === end ? all : sumOf(rows);
  }

  /** What all sheets together give to the key in this place. */
  given(place: number): number {
    let sum = 0;
    for (let sheet = 0; sheet < this.sheets.length; sheet++) {
      sum += this.#rows[sheet * this.#seen + place];
    }
    return sum;
  }
}

/** After the last weight that is not 0, but not before `least`. */
function endOf(weights: Float32Array, least: number): number {
  let end = weights.length;
  while (end > least && weights[end - 1] === 0) end--;
  return Math.max(end, least);
}

/** As several sums, so that one addition need not wait for another. */
function sumOf(values: Float32Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const whole = values.length - (values.length % 4);
  for (let n = 0; n < whole; n += 4) {
    a += values[n];
    b += values[n + 1];
    c += values[n + 2];
    d += values[n + 3];
  }
  for (let n = whole; n < values.length; n++) a += values[n];
  return a + b + c + d;
}
