/** The softmax normalizers of a head's rows, from which columns are computed. */

import type { Kernels } from "../kernels/kernels.ts";

/** The normalizers of a copy of the layer. */
export interface Normalized {
  readonly peaks: Float32Array;
  readonly factors: Float32Array;
}

export class Normalizers {
  /** Per query, the largest score, and 1 / the sum of exponentials, 0 if unknown. */
  readonly peaks: Float32Array;
  readonly factors: Float32Array;
  #missing: number;

  /** @param length the length of the arrays, at least the number of queries */
  constructor(
    kernels: Kernels,
    private readonly queries: number,
    length: number,
  ) {
    this.peaks = kernels.floats(length);
    this.factors = kernels.floats(length);
    this.#missing = queries;
  }

  /** The number of rows without a normalizer. */
  get missing(): number {
    return this.#missing;
  }

  has(query: number): boolean {
    return this.factors[query] !== 0;
  }

  set(query: number, peak: number, factor: number): void {
    if (!this.has(query)) this.#missing--;
    this.peaks[query] = peak;
    this.factors[query] = factor;
  }

  learn({ peaks, factors }: Normalized): void {
    for (let query = 0; query < this.queries; query++) {
      if (factors[query] !== 0) this.set(query, peaks[query], factors[query]);
    }
  }

  /** A copy, to send it to another thread. */
  known(): Normalized {
    return { peaks: this.peaks.slice(), factors: this.factors.slice() };
  }
}
