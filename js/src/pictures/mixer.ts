/** What all sheets give from one query to each key shown, as one. */

import type { Sheet } from "../data/sheets.ts";
import type { Kernels } from "../kernels/kernels.ts";

/** Each component 0 to 255. */
export type Ink = readonly [number, number, number];

export class Mixer {
  /** Per key: red, green, blue, and the largest weight. */
  readonly mixed: Float32Array;
  /** Of all that the queries attend to so far, also outside of what is shown. */
  total = 0;
  readonly #rows: Float32Array;
  readonly #inks: Float32Array;
  readonly #keys: Uint32Array;

  /** How many numbers it holds. */
  static numbers(sheets: number, columns: number): number {
    return (sheets + 4) * columns + 4 * sheets;
  }

  constructor(
    private readonly sheets: readonly Sheet[],
    columns: readonly number[],
    inks: readonly Ink[],
    private readonly kernels: Kernels,
  ) {
    this.mixed = kernels.floats(4 * columns.length);
    this.#rows = kernels.floats(sheets.length * columns.length);
    this.#inks = kernels.floats(4 * sheets.length);
    this.#inks.set(inks.flatMap((ink) => [...ink, 1]));
    this.#keys = Uint32Array.from(columns);
  }

  /** Returns what all sheets together give to the keys shown. */
  mix(query: number): number {
    const [rows, keys] = [this.#rows, this.#keys];
    let [at, shown] = [0, 0];
    for (const sheet of this.sheets) {
      const weights = sheet.row(query);
      for (let key = 0; key < weights.length; key++) this.total += weights[key];
      for (let n = 0; n < keys.length; n++) {
        const weight = weights[keys[n]];
        rows[at++] = weight;
        shown += weight;
      }
    }
    this.kernels.mix(rows, this.#inks, this.mixed);
    return shown;
  }

  /** What all sheets together give to the key in this place. */
  given(place: number): number {
    const { length } = this.#keys;
    let sum = 0;
    for (let at = place; at < this.#rows.length; at += length) sum += this.#rows[at];
    return sum;
  }
}
