/** Thousands of translucent curves, summed pixel by pixel instead of stroked one by one. */

import { scriptKernels } from "./compiled.ts";
import { BENDS, CURVE, type Kernels } from "./kernels.ts";
import { ease, lightFor, steepness } from "./shape.ts";

/** Each component from 0 to 255. */
type Color = readonly [red: number, green: number, blue: number];

/**
 * The width in pixels over which curves are smoothed from left to right. Over a single pixel, a thin
 * steep line would look like a chain of dots.
 */
const SMOOTHED = 1.5;

/** The most curves that wait, to be drawn at once. */
const WAITING = 512;

/**
 * Set, for each column of a picture, the progress of a curve (0 to 1), its slope, and how far it
 * moves while it is smoothed: `bends` of `Kernels`.
 *
 * @param width of the picture in pixels
 * @param stretch the number of pixels per column
 */
export function setBends(bends: Float32Array, width: number, stretch = 1): void {
  const columns = bends.length / BENDS;
  for (let x = 0; x < columns; x++) {
    const t = ((x + 0.5) * stretch) / width;
    const slope = steepness(t) / width;
    bends[x] = ease(t);
    bends[columns + x] = slope;
    bends[2 * columns + x] = slope * Math.max(stretch, SMOOTHED);
  }
}

export class LineField {
  /** Premultiplied red, green, blue and opacity sums per pixel, column by column. */
  readonly #sums: Float32Array;
  readonly #pixels: Uint8ClampedArray<ArrayBuffer>;
  readonly #bends: Float32Array;
  /** The curves that are not drawn yet, and how many they are. */
  readonly #list: Float32Array;
  #waiting = 0;

  readonly #columns: number;

  static numbers(width: number, height: number, stretch = 1): number {
    const columns = Math.ceil(width / stretch);
    return 5 * columns * height + BENDS * columns + CURVE * WAITING;
  }

  /** @param stretch the number of pixels from left to right that are drawn as one. */
  constructor(
    readonly width: number,
    readonly height: number,
    private readonly kernels: Kernels = scriptKernels(LineField.numbers(width, height)),
    private readonly stretch = 1,
  ) {
    const columns = Math.ceil(width / stretch);
    this.#columns = columns;
    this.#sums = kernels.floats(columns * height * 4);
    this.#pixels = kernels.pixels(columns * height);
    this.#bends = kernels.floats(BENDS * columns);
    setBends(this.#bends, width, stretch);
    this.#list = kernels.floats(CURVE * WAITING);
  }

  /**
   * Add the cubic curve from (0, from) to (width, to), level at both ends, with control points at a
   * third and two thirds of the width. Colour components are 0 to 255.
   */
  add(from: number, to: number, thickness: number, [r, g, b]: Color, opacity: number): void {
    this.#list.set([from, to, thickness, opacity, r, g, b, 1], CURVE * this.#waiting++);
    if (this.#waiting === WAITING) this.#draw();
  }

  #draw(): void {
    const list = this.#list.subarray(0, CURVE * this.#waiting);
    this.kernels.curves(this.#sums, this.height, this.#bends, 0, list, 0);
    this.#waiting = 0;
  }

  /** The picture so far: per pixel the mean colour, dimmed where curves overlap. */
  pixels(): Uint8ClampedArray<ArrayBuffer> {
    this.#draw();
    let total = 0;
    for (let at = 3; at < this.#sums.length; at += 4) total += this.#sums[at];
    const light = lightFor((4 * total) / this.#sums.length);
    const columns = this.#columns;
    const column = 4 * this.height;
    for (let x = 0; x < columns; x++) {
      const sums = this.#sums.subarray(x * column, (x + 1) * column);
      this.kernels.image(sums, this.#pixels.subarray(4 * x), columns, light);
    }
    return this.stretch === 1 ? this.#pixels.slice() : this.#stretched();
  }

  #stretched(): Uint8ClampedArray<ArrayBuffer> {
    const { width, height, stretch } = this;
    const columns = new Uint32Array(this.#pixels.slice().buffer);
    const out = new Uint32Array(width * height);
    for (let y = 0, at = 0; y < height; y++) {
      const start = y * this.#columns;
      for (let x = 0; x < width; x++, at++) out[at] = columns[start + Math.floor(x / stretch)];
    }
    return new Uint8ClampedArray(out.buffer);
  }

  image(): ImageData {
    return new ImageData(this.pixels(), this.width, this.height);
  }
}
