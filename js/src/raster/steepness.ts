/** Lines cover more of a column the steeper they are: how much more, where they are summed up. */

import { steepness } from "../kernels/ease.ts";

export class Steepness {
  /** By distance of query and key in cells: how much more a line covers, with its mean slope. */
  readonly factors: Float32Array;
  /** By distance, the weight of all such lines. */
  readonly weights: Float64Array;

  /** @param cell height of one in pixels, of as many as `size`, and width of the picture in pixels. */
  constructor(
    size: number,
    private readonly cell: number,
    private readonly width: number,
  ) {
    this.factors = Float32Array.from({ length: size }, (_, distance) => this.#factor(distance, 1));
    this.weights = new Float64Array(size);
  }

  /**
   * By column, what the weights times their factors are to be multiplied with: the slope changes on
   * the way, and the sums have no more to do with single lines.
   */
  gains(): Float32Array {
    const { weights, factors } = this;
    const mean = weights.reduce((sum, weight, distance) => sum + weight * factors[distance], 0);
    return Float32Array.from({ length: this.width }, (_, x) => {
      const slope = steepness((x + 0.5) / this.width);
      const own = weights.reduce(
        (sum, weight, distance) => (weight ? sum + weight * this.#factor(distance, slope) : sum),
        0,
      );
      return mean > 0 ? own / mean : 1;
    });
  }

  /** @param slope as a share of the mean */
  #factor(distance: number, slope: number): number {
    return Math.hypot(1, (distance * this.cell * slope) / this.width);
  }
}
