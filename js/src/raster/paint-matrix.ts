/** Draws a matrix as pixels, first a row for every pixel and then the others. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import { pacer } from "../scheduling/slices.ts";

export interface MatrixJob {
  /** The queries and keys shown, in order. */
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  /** The size of the picture in pixels: at most one per column and row. */
  readonly width: number;
  readonly height: number;
}

export function* paintMatrix(
  [matrix]: readonly AttentionMatrix[],
  { rows, columns, width, height }: MatrixJob,
  show: (largest: Float32Array<ArrayBuffer>, done: boolean) => void,
): Generator<void> {
  const largest = new Float32Array(width * height);
  const keys = Uint32Array.from(columns);
  const pixels = Uint32Array.from(columns, (_, at) => Math.floor((at * width) / columns.length));
  const due = pacer();
  const rounds = Math.max(1, Math.floor(rows.length / height));
  for (let round = 0; round < rounds; round++) {
    for (let at = round; at < rows.length; at += rounds) {
      const weights = matrix.row(rows[at], true);
      const start = Math.floor((at * height) / rows.length) * width;
      let end = keys.length;
      while (end > 0 && weights[keys[end - 1]] === 0) end--;
      for (let column = 0; column < end; column++) {
        const weight = weights[keys[column]];
        const pixel = start + pixels[column];
        // Differences and scores may be negative; the score of a masked key is -Infinity.
        if (Math.abs(weight) > Math.abs(largest[pixel]) && weight !== Number.NEGATIVE_INFINITY)
          largest[pixel] = weight;
      }
      if (due()) show(largest.slice(), false);
      yield;
    }
  }
  show(largest, true);
}
