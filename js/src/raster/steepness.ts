/** The coverage of lines: a line covers more of a pixel column the steeper it is. */

import { steepness } from "../kernels/shape.ts";

export class Steepness {
  /** The coverage of a line with its mean slope, by distance of query and key in cells. */
  readonly factors: Float32Array;
  /** The sum of all weights, by distance. */
  readonly weights: Float64Array;

  /**
   * @param cell the height of a cell in pixels; `size` is their number, `width` that of the picture
   * in pixels
   */
  constructor(
    size: number,
    private readonly cell: number,
    private readonly width: number,
  ) {
    this.factors = Float32Array.from({ length: size }, (_, distance) => this.#factor(distance, 1));
    this.weights = new Float64Array(size);
  }

  /**
   * The factor of each column, since the slope of lines changes on the way and the sums do not tell
   * lines apart.
   */
  gains(): Float32Array {
    const { weights, factors } = this;
    const mean = weights.reduce((sum, weight, distance) => sum + weight * factors[distance], 0);
    return Float32Array.from({ length: this.width }, (_, x) => {
      const slope = steepness((x + 0.5) / this.width);
      const total = weights.reduce(
        (sum, weight, distance) => (weight ? sum + weight * this.#factor(distance, slope) : sum),
        0,
      );
      return mean > 0 ? total / mean : 1;
    });
  }

  #factor(distance: number, slope: number): number {
    return Math.hypot(1, (distance * this.cell * slope) / this.width);
  }
}
