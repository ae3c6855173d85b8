/** Thousands of translucent curves, added up pixel by pixel instead of stroked one by one. */

import type { RGB } from "../theme.ts";

/** Premultiplied red, green, blue and opacity sums per pixel. */
export class LineField {
  readonly #sums: Float32Array;
  /** Per column: how far the curve has gone (0 to 1), and how steep it is. */
  readonly #ease: Float32Array;
  readonly #slope: Float32Array;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.#sums = new Float32Array(width * height * 4);
    this.#ease = new Float32Array(width);
    this.#slope = new Float32Array(width);
    for (let x = 0; x < width; x++) {
      const t = (x + 0.5) / width;
      this.#ease[x] = t * t * (3 - 2 * t);
      this.#slope[x] = (6 * t * (1 - t)) / width;
    }
  }

  /**
   * Add a curve from (0, from) to (width, to): the cubic with control points at a third and two
   * thirds of the width, level with its ends. Colour components are 0 to 255.
   */
  add(from: number, to: number, thickness: number, [r, g, b]: RGB, opacity: number): void {
    const { width, height } = this;
    const sums = this.#sums;
    const drop = to - from;
    for (let x = 0; x < width; x++) {
      const middle = from + drop * this.#ease[x];
      const slope = drop * this.#slope[x];
      // The vertical extent of a band of this thickness at this slope.
      const half = (thickness / 2) * Math.sqrt(1 + slope * slope);
      const top = Math.max(middle - half, 0);
      const bottom = Math.min(middle + half, height);
      for (let y = Math.floor(top); y < bottom; y++) {
        const covered = Math.min(y + 1, bottom) - Math.max(y, top);
        const amount = covered * opacity;
        const at = (y * width + x) * 4;
        sums[at] += amount * r;
        sums[at + 1] += amount * g;
        sums[at + 2] += amount * b;
        sums[at + 3] += amount;
      }
    }
  }

  /** The picture so far: the mean colour of what covers a pixel, opaque from a sum of one. */
  image(): ImageData {
    const image = new ImageData(this.width, this.height);
    const sums = this.#sums;
    for (let at = 0; at < sums.length; at += 4) {
      const opacity = sums[at + 3];
      if (opacity === 0) continue;
      image.data[at] = sums[at] / opacity;
      image.data[at + 1] = sums[at + 1] / opacity;
      image.data[at + 2] = sums[at + 2] / opacity;
      image.data[at + 3] = 255 * Math.min(1, opacity);
    }
    return image;
  }
}
