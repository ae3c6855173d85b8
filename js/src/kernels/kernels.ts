/** The hot loops for arrays, in a memory that holds all of them; `compiled.ts` provides it. */

import type * as script from "./loops/index.ts";

/** The numbers per column of the bends, and per curve, that `curves` takes. */
export const BENDS = 3;
export const CURVE = 8;

export type Loops = typeof script;
export type Kernels = ReturnType<typeof kernelsIn>;

/** The alignment of arrays in bytes. */
const ALIGNMENT = 16;

const at = (array: Float32Array | Float64Array | Uint8ClampedArray): number => array.byteOffset;

/** @param free the first address that the loops do not use themselves */
export function kernelsIn(buffer: ArrayBuffer, loops: Loops, free: number) {
  let end = free;
  /** A new array of zeros. Every array that a kernel gets is one of these, or a view into one. */
  function floats(count: number): Float32Array<ArrayBuffer> {
    const array = new Float32Array(buffer, end, count);
    end += Math.ceil((4 * count) / ALIGNMENT) * ALIGNMENT;
    return array.fill(0);
  }
  return {
    floats,
    /** Likewise for pixels of four bytes, each as long as a float. */
    pixels(count: number): Uint8ClampedArray<ArrayBuffer> {
      return new Uint8ClampedArray(buffer, floats(count).byteOffset, 4 * count);
    },
    /** Release all arrays, so that new ones can take their place. */
    clear() {
      end = free;
    },

    /** The dot products of a vector with `count` rows, times `scale`. May write three more. */
    dots(
      vector: Float32Array,
      rows: Float32Array,
      count: number,
      scale: number,
      out: Float32Array,
    ): void {
      loops.dots(at(vector), at(rows), count, vector.length, scale, at(out));
    },

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
    ): void {
      const dim = Math.sqrt(matrix.length);
      loops.turn(at(values), values.length / dim, dim, step, at(matrix), at(work), at(out));
    },

    // The arrays of the next four have a length that is a multiple of four.

    largest: (values: Float32Array): number => loops.largest(at(values), values.length),
    /** Replace each value with exp(value - peak). Returns the sum. */
    exponentials: (values: Float32Array, peak: number): number =>
      loops.exponentials(at(values), values.length, peak),
    multiply: (values: Float32Array, factor: number): void =>
      loops.multiply(at(values), values.length, factor),
    /** Replace scores with weights, given the peak and the factor of each score's row. */
    weights(scores: Float32Array, peaks: Float32Array, factors: Float32Array): void {
      loops.weights(at(scores), scores.length, at(peaks), at(factors));
    },

    /**
     * Blend the weights of several matrices per key: their mean colour and the largest weight.
     *
     * @param rows [matrices, keys]
     * @param inks [matrices, 4]: red, green, blue, 1
     * @param out [keys, 4]: red, green, blue, weight; may hold fewer keys than `rows`
     */
    mix(rows: Float32Array, inks: Float32Array, out: Float32Array): void {
      const matrices = inks.length / 4;
      loops.mix(at(rows), matrices, rows.length / matrices, out.length / 4, at(inks), at(out));
    },

    /**
     * Add curves to [width, height, 4], sums of red, green and blue times opacity, and of opacity, by
     * how much of each pixel they cover. May read the bends of three columns more.
     *
     * @param bends [3, columns]: the progress of a curve (0 to 1) in the middle of a column, its
     * slope, and how far it moves while it is smoothed from left to right
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
    ): void {
      const width = sums.length / 4 / height;
      const [columns, curves] = [bends.length / BENDS, list.length / CURVE];
      const own = bends.subarray(first);
      loops.curves(at(sums), width, height, at(own), columns, at(list), curves, cover);
    },

    /**
     * Write sums as pixels of four bytes: the mean colour, as opaque as the sum of opacities times
     * `light`.
     *
     * @param out holds zeros, or the pixels of smaller sums
     * @param stride the distance of consecutive pixels in `out`, in pixels
     */
    image(sums: Float32Array, out: Uint8ClampedArray, stride: number, light: number): void {
      loops.image(at(sums), sums.length / 4, at(out), stride, light);
    },

    /**
     * One step of the Radon transform: lines through `span` columns on the left and on the right are
     * joined. Lines that rise by `rise` in each half rise by twice as much in total (stored in
     * `left`), or by one more (in `right`).
     */
    merge(left: Float32Array, right: Float32Array, span: number, rise: number): void {
      loops.merge(at(left), at(right), left.length / 4, span, rise);
    },

    /**
     * Add a line of cells to one column of a picture, times `gain`. Pixel y shows the position `start
     * + y * step` of the line.
     *
     * @param sums [height, 4]
     */
    project(
      line: Float32Array,
      start: number,
      step: number,
      gain: number,
      sums: Float32Array,
    ): void {
      loops.project(at(line), line.length / 4, start, step, gain, at(sums), sums.length / 4);
    },
  };
}
