/** The softmax normalizers of a head's rows: with them, a column needs no other scores of its rows. */

import type { Kernels } from "../kernels/kernels.ts";

/** The normalizers that another copy of the layer computed. */
export interface Normalized {
  readonly peaks: Float32Array;
  readonly factors: Float32Array;
}

export class Normalizers {
  /** Per query, the largest score, and 1 / the sum of exponentials; 0 while it is not known. */
  readonly peaks: Float32Array;
  readonly factors: Float32Array;
  #missing: number;

  /** @param length at least as many as there are queries. */
  constructor(
    kernels: Kernels,
    private readonly queries: number,
    length: number,
  ) {
    this.peaks = kernels.floats(length);
    this.factors = kernels.floats(length);
    this.#missing = queries;
  }

  /** The number of rows whose normalizer is missing. */
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

  /** A copy, to be sent. */
  known(): Normalized {
    return { peaks: this.peaks.slice(), factors: this.factors.slice() };
  }
}
