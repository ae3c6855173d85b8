/** The interface of the hot loops, which `compiled.ts` provides. */

/** The numbers per column of the bends, and per curve, that `curves` takes. */
export const BENDS = 3;
export const CURVE = 8;

export interface Kernels {
  /** A new array of zeros. Every array that a kernel gets is one of these, or a view into one. */
  floats(count: number): Float32Array<ArrayBuffer>;
  /** Release all arrays, so that new ones can take their place. */
  clear(): void;

  /** The dot products of a vector with `count` rows, times `scale`. May write three more. */
  dots(
    vector: Float32Array,
    rows: Float32Array,
    count: number,
    scale: number,
    out: Float32Array,
  ): void;

  /**
   * The products of a matrix with vectors, times `step`. May write up to three vectors more.
   *
   * @param values [dim, vectors]
   * @param matrix [dim, dim]
   * @param work space for four vectors
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
  /** Replace each value with exp(value - peak). Returns the sum. */
  exponentials(values: Float32Array, peak: number): number;
  multiply(values: Float32Array, factor: number): void;
  /** Replace scores with weights, given the peak and the factor of each score's row. */
  weights(scores: Float32Array, peaks: Float32Array, factors: Float32Array): void;

  /**
   * Blend the weights of several matrices per key: their mean colour and the largest weight.
   *
   * @param rows [matrices, keys]
   * @param inks [matrices, 4]: red, green, blue, 1
   * @param out [keys, 4]: red, green, blue, weight; may hold fewer keys than `rows`
   */
  mix(rows: Float32Array, inks: Float32Array, out: Float32Array): void;

  /**
   * Add curves to [width, height, 4], sums of red, green and blue times opacity, and of opacity, by
   * how much of each pixel they cover. May read the bends of three columns more.
   *
   * @param bends [3, columns]: the progress of a curve (0 to 1) in the middle of a column, its slope,
   * and how far it moves while it is smoothed from left to right
   * @param first the column with which `sums` begin
   * @param list [curves, 8]: from, to, thickness, opacity, red, green, blue, 1
   * @param cover 1 if a curve covers what is below it, 0 if it is added to that
   */
  curves(
    sums: Float32Array,
    height: number,
    bends: Float32Array,
    first: number,
    list: Float32Array,
    cover: 0 | 1,
  ): void;

  /**
   * Write sums as pixels of four bytes: the mean colour, as opaque as the sum of opacities times
   * `light`.
   *
   * @param out holds zeros, or the pixels of smaller sums
   * @param stride the distance of consecutive pixels in `out`, in pixels
   */
  image(sums: Float32Array, out: Uint8ClampedArray, stride: number, light: number): void;

  /**
   * One step of the Radon transform: lines through `span` columns on the left and on the right are
   * joined. Lines that rise by `rise` in each half rise by twice as much in total (stored in
   * `left`), or by one more (in `right`).
   */
  merge(left: Float32Array, right: Float32Array, span: number, rise: number): void;

  /**
   * Add a line of cells to one column of a picture, times `gain`. Pixel y shows the position `start
   * + y * step` of the line.
   *
   * @param sums [height, 4]
   */
  project(line: Float32Array, start: number, step: number, gain: number, sums: Float32Array): void;
}
