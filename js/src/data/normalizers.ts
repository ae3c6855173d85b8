/** The softmax normalizers of a head's rows, from which columns are computed. */

import type { Kernels } from "../kernels/kernels.ts";

/** The normalizers of a copy of the layer. */
export interface Normalized {
  readonly peaks: Float32Array;
  readonly factors: Float32Array;
  readonly totals: Float32Array | null;
}

export class Normalizers {
  /** Per query, the largest score, and 1 / the sum of exponentials, 0 if unknown. */
  readonly peaks: Float32Array;
  readonly factors: Float32Array;
  /** Per query, the sum of weights times norms of values; null without norms. */
  readonly totals: Float32Array | null;
  #missing: number;

  /**
   * @param length the length of the arrays, at least the number of queries
   * @param weighted true if the layer has norms of values
   */
  constructor(
    kernels: Kernels,
    private readonly queries: number,
    length: number,
    weighted: boolean,
  ) {
    this.peaks = kernels.floats(length);
    this.factors = kernels.floats(length);
    this.totals = weighted ? new Float32Array(queries) : null;
    this.#missing = queries;
  }

  /** The number of rows without a normalizer. */
  get missing(): number {
    return this.#missing;
  }

  has(query: number): boolean {
    return this.factors[query] !== 0;
  }

  set(query: number, peak: number, factor: number, total: number): void {
    if (!this.has(query)) this.#missing--;
    this.peaks[query] = peak;
    this.factors[query] = factor;
    if (this.totals) this.totals[query] = total;
  }

  learn({ peaks, factors, totals }: Normalized): void {
    for (let query = 0; query < this.queries; query++) {
      if (factors[query] !== 0) this.set(query, peaks[query], factors[query], totals?.[query] ?? 0);
    }
  }

  /** A copy, to send it to another thread. */
  known(): Normalized {
    const { peaks, factors, totals } = this;
    return { peaks: peaks.slice(), factors: factors.slice(), totals: totals?.slice() ?? null };
  }
}
