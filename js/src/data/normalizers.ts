/** The softmax normalizers of a head's rows, from which columns are computed. */

import type { Kernels } from "../kernels/kernels.ts";

/** The normalizers of a copy of the layer. */
export type Normalized = Pick<Normalizers, "peaks" | "factors" | "totals">;

export class Normalizers {
  /** Per query, the largest score, and 1 / the sum of exponentials, 0 if unknown. */
  readonly peaks: Float32Array;
  readonly factors: Float32Array;
  /** By lens of factors, per query: the sum of weights times factors. */
  readonly totals: readonly Float32Array[];
  #missing: number;

  /**
   * @param length the length of the arrays, at least the number of queries
   * @param lenses the number of lenses of factors that the layer has
   */
  constructor(
    kernels: Kernels,
    private readonly queries: number,
    length: number,
    lenses: number,
  ) {
    this.peaks = kernels.floats(length);
    this.factors = kernels.floats(length);
    this.totals = Array.from({ length: lenses }, () => new Float32Array(queries));
    this.#missing = queries;
  }

  /** The number of rows without a normalizer. */
  get missing(): number {
    return this.#missing;
  }

  has(query: number): boolean {
    return this.factors[query] !== 0;
  }

  /** @param totals by lens */
  set(query: number, peak: number, factor: number, totals: readonly number[]): void {
    if (!this.has(query)) this.#missing--;
    this.peaks[query] = peak;
    this.factors[query] = factor;
    this.totals.forEach((own, lens) => {
      own[query] = totals[lens];
    });
  }

  learn({ peaks, factors, totals }: Normalized): void {
    for (let query = 0; query < this.queries; query++) {
      if (factors[query] === 0) continue;
      const own = totals.map((total) => total[query]);
      this.set(query, peaks[query], factors[query], own);
    }
  }

  /** A copy, to send it to another thread. */
  known(): Normalized {
    const { peaks, factors, totals } = this;
    return {
      peaks: peaks.slice(),
      factors: factors.slice(),
      totals: totals.map((own) => own.slice()),
    };
  }
}
