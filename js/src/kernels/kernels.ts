/** The hot loops: written once in TypeScript, and once compiled from `assembly`. */

export interface Kernels {
  /**
   * Zeros to work on, as long as there is room for them. Every array given to a kernel is one of these,
   * a part of one, or in the memory of one.
   */
  floats(count: number): Float32Array<ArrayBuffer>;
  /** Forget all arrays: the next ones lie where they lay. */
  clear(): void;

  /**
   * The products of a vector with `count` rows of as many components, times `scale`. May write up to
   * three numbers more than that.
   */
  dots(
    vector: Float32Array,
    rows: Float32Array,
    count: number,
    scale: number,
    out: Float32Array,
  ): void;

  /**
   * The products of a matrix with vectors times `step`. May write up to three vectors too many.
   *
   * @param values [dim, vectors]
   * @param matrix [dim, dim]
   * @param work room for four vectors
   * @param out [vectors, dim]
   */
  turn(
    values: Float32Array,
    step: number,
    matrix: Float64Array,
    work: Float64Array,
    out: Float32Array,
  ): void;

  // The arrays of the next four have a length that is a multiple of four.

  largest(values: Float32Array): number;
  /** Each becomes the exponential of its distance from the largest. Returns their sum. */
  exponentials(values: Float32Array, peak: number): number;
  multiply(values: Float32Array, factor: number): void;
  /** Each score becomes its weight, given its own row's largest score and factor. */
  weights(scores: Float32Array, peaks: Float32Array, factors: Float32Array): void;

  /**
   * What several matrices give to each key: the colour, and the largest weight.
   *
   * @param rows [matrices, keys]
   * @param inks [matrices, 4]: red, green, blue, 1
   * @param out [keys, 4]: red, green, blue, weight; of the first keys, as many as it has room for
   */
  mix(rows: Float32Array, inks: Float32Array, out: Float32Array): void;

  /**
   * Add a curve to [height, width, 4], sums of red, green and blue times opacity, and of opacity.
   *
   * @param bends per column, how far the curve has gone (0 to 1), and how steep that is.
   */
  curve(
    sums: Float32Array,
    height: number,
    bends: Float32Array,
    from: number,
    to: number,
    thickness: number,
    red: number,
    green: number,
    blue: number,
    opacity: number,
  ): void;

  /**
   * Sums become pixels, four bytes each: their mean colour, as opaque as the sum times `light`.
   *
   * @param stride from one pixel to the next, in pixels
   */
  image(sums: Float32Array, out: Uint8ClampedArray, stride: number, light: number): void;

  /**
   * One step of the Radon transform: lines through `span` columns each become lines through both.
   * What rises by `rise` in each part rises by twice as much in both (left in `left`), or by one more
   * (in `right`).
   */
  merge(left: Float32Array, right: Float32Array, span: number, rise: number): void;

  /**
   * Add a line of cells to one column of a picture, times `gain`: its pixel y shows what lies at
   * `start + y * step`.
   *
   * @param sums [height, 4]
   */
  project(line: Float32Array, start: number, step: number, gain: number, sums: Float32Array): void;
}
