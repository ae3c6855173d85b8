/**
 * The sums along all lines of a matrix at once: the fast discrete Radon transform of Brady (A fast
 * discrete approximation algorithm for the Radon transform, SIAM J. Comput. 1998; see also Press,
 * PNAS 2006). It takes N² log N additions, whatever the width of the picture.
 *
 * At a share u of the way from queries to keys, the line from query i to key j is at (1 - u) i + u
 * j. A column of the picture therefore holds sums of the matrix along parallel lines. In the first
 * half, these lines go from key to key and rise by t = u / (1 - u) queries at each key; in the
 * second half, queries and keys are exchanged.
 */

import type { Kernels } from "./kernels.ts";
import { ease, lightFor, steepness } from "./shape.ts";

export class RadonField {
  /** [queries, keys, 4]: red, green and blue times weight, and weight. */
  readonly #cells: Float32Array;
  /** [lines, 2 size, 4]: by the start of each line, from -size on; lines in bit-reversed order. */
  readonly #lines: Float32Array;
  readonly #sums: Float32Array;
  readonly #pixels: Uint8ClampedArray<ArrayBuffer>;

  static numbers(size: number, width: number, height: number): number {
    return 12 * size * size + (width + 4) * height;
  }

  /** @param size the side of the matrix, a power of two */
  constructor(
    readonly size: number,
    readonly width: number,
    readonly height: number,
    private readonly kernels: Kernels,
  ) {
    this.#cells = kernels.floats(4 * size * size);
    this.#lines = kernels.floats(8 * size * size);
    this.#sums = kernels.floats(4 * height);
    this.#pixels = kernels.pixels(width * height);
  }

  /** Add a row of keys, or a share of it, to a query. */
  add(query: number, row: Float32Array, share: number): void {
    const start = 4 * query * this.size;
    for (let n = 0; n < row.length; n++) this.#cells[start + n] += share * row[n];
  }

  /**
   * The picture so far. Yields after every step, so that it can be computed in slices.
   *
   * @param cell the height of a cell in pixels
   * @param gains per column, the brightness of a line of weight 1 in one pixel
   */
  *pixels(cell: number, gains: Float32Array): Generator<void, Uint8ClampedArray<ArrayBuffer>> {
    const light = lightFor(this.#opacity(gains));
    for (const forward of [true, false]) {
      this.#load(forward);
      yield;
      yield* this.#transform();
      for (let x = 0; x < this.width; x++) {
        const t = (x + 0.5) / this.width;
        if (t <= 0.5 !== forward) continue;
        const way = forward ? ease(t) : 1 - ease(t);
        const reach = steepness(t) / this.width / (1 - way) ** 2;
        this.#project(x, way / (1 - way), reach, cell, gains[x], light);
        yield;
      }
    }
    return this.#pixels.slice();
  }

  /** The mean opacity of the picture: every weight appears once in every column. */
  #opacity(gains: Float32Array): number {
    let total = 0;
    for (let at = 3; at < this.#cells.length; at += 4) total += this.#cells[at];
    const gain = gains.reduce((sum, own) => sum + own, 0) / gains.length;
    return (total * gain) / this.height;
  }

  #load(forward: boolean): void {
    const { size } = this;
    // Copied two numbers at a time.
    const [cells, lines] = [doubles(this.#cells), doubles(this.#lines)];
    lines.fill(0);
    for (let line = 0; line < size; line++) {
      let to = 2 * ((size - 1 - line) * 2 * size + size);
      let from = 2 * line * (forward ? 1 : size);
      for (let start = 0; start < size; start++, to += 2, from += 2 * (forward ? size : 1)) {
        lines[to] = cells[from];
        lines[to + 1] = cells[from + 1];
      }
    }
  }

  *#transform(): Generator<void> {
    const { size, kernels } = this;
    // Merge merged columns again as soon as possible, while they are in the processor's cache.
    for (let end = 2; end <= size; end += 2) {
      for (let span = 1; end % (2 * span) === 0; span *= 2) {
        const left = end - 2 * span;
        for (let n = 0; n < span; n++) {
          const rise = reversed(n, span);
          kernels.merge(this.#line(left + n), this.#line(left + span + n), span, rise);
        }
        yield;
      }
    }
  }

  /**
   * @param rise the rise of the lines, in cells per cell
   * @param reach the difference of the rise from one column to the next
   */
  #project(
    x: number,
    rise: number,
    reach: number,
    cell: number,
    gain: number,
    light: number,
  ): void {
    const last = this.size - 1;
    const middle = rise * last;
    const wide = Math.max(1, reach * last);
    const first = Math.max(0, Math.ceil(middle - wide));
    const end = Math.min(last, Math.floor(middle + wide));
    const near = (line: number) => Math.max(0, 1 - Math.abs(line - middle) / wide);
    let total = 0;
    for (let line = first; line <= end; line++) total += near(line);
    this.#sums.fill(0);
    for (let line = first; line <= end; line++) {
      const step = (1 + line / last) / cell;
      // The distance of the first pixel's middle from the middle of the first cell, where the line
      // starts.
      const start = (0.5 - cell / 2) * step - line + this.size;
      const share = (gain * step * near(line)) / total;
      this.kernels.project(this.#line(reversed(line, this.size)), start, step, share, this.#sums);
    }
    this.kernels.image(this.#sums, this.#pixels.subarray(4 * x), this.width, light);
  }

  #line(index: number): Float32Array {
    const length = 8 * this.size;
    return this.#lines.subarray(index * length, (index + 1) * length);
  }
}

const doubles = ({ buffer, byteOffset, length }: Float32Array) =>
  new Float64Array(buffer, byteOffset, length / 2);

/** The bit-reversed index, below `count` (a power of two), which is where merging leaves a line. */
function reversed(index: number, count: number): number {
  let out = 0;
  for (let bit = 1; bit < count; bit *= 2) {
    out = 2 * out + (index & bit ? 1 : 0);
  }
  return out;
}
