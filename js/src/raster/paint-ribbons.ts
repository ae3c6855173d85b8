/** Draws ribbons, which start at a few tokens, as one picture: browsers stroke curves slowly. */

import { BENDS, CURVE } from "../kernels/kernels.ts";
import { setBends } from "../kernels/lines.ts";
import { ease } from "../kernels/shape.ts";
import { workspace } from "../kernels/workspace.ts";
import type { Ink } from "./mixer.ts";

/** A curve from its start to its end; all lengths and places are in pixels. */
export interface Ribbon {
  readonly start: number;
  readonly end: number;
  readonly thickness: number;
  readonly ink: Ink;
  readonly opacity: number;
}

/** Ribbons from one start, too many to draw one by one. */
export interface Merged {
  readonly start: number;
  /** [cells, 4]: the sums of their ends, as red, green and blue times opacity, and opacity. */
  readonly ends: Float32Array;
}

export interface RibbonsJob {
  /** The size of the picture, and the columns that the ribbons cross. */
  readonly width: number;
  readonly height: number;
  readonly first: number;
  readonly end: number;
  /** True if the ribbons start on the left. */
  readonly forward: boolean;
  readonly merged: readonly Merged[];
  /** The height of a cell of their ends. */
  readonly cell: number;
  /** From the lowest to the topmost. */
  readonly ribbons: readonly Ribbon[];
}

/** The columns that are drawn at once, so few that their sums stay in the processor's cache. */
const BAND = 64;

/** The number of sizes of merged ends. Each has half the cells of the one before. */
const SIZES = 4;

/**
 * Draw the picture.
 *
 * @param use gets its pixels, which hold until it returns
 */
export function paintRibbons(
  job: RibbonsJob,
  use: (pixels: Uint8ClampedArray<ArrayBuffer>) => void,
): void {
  const { width, height, first, end, forward, merged, cell, ribbons } = job;
  const across = end - first;
  const cells = merged.reduce((sum, { ends }) => sum + 2 * ends.length + 4 * SIZES, 0);
  const numbers =
    4 * BAND * height + width * height + BENDS * across + CURVE * ribbons.length + cells;
  const { kernels, release } = workspace(numbers);
  try {
    const sums = kernels.floats(4 * BAND * height);
    const pixels = kernels.pixels(width * height);
    const bends = kernels.floats(BENDS * across);
    setBends(bends, across);
    const list = kernels.floats(CURVE * ribbons.length);
    let at = 0;
    for (const { start, end, thickness, ink, opacity } of ribbons) {
      const ends = forward ? [start, end] : [end, start];
      // Setting the array at once would take longer than drawing the ribbon.
      for (const number of [...ends, thickness, opacity, ...ink, 1]) list[at++] = number;
    }
    const bundles = merged.map(({ start, ends }) => ({ start, sizes: sizesOf(ends) }));
    for (let from = 0; from < across; from += BAND) {
      const until = Math.min(from + BAND, across);
      const column = (x: number) =>
        sums.subarray(4 * (x - from) * height, 4 * (x - from + 1) * height);
      // `floats` gives zeros.
      if (from > 0) sums.fill(0);
      for (let x = from; x < until; x++) {
        const t = (x + 0.5) / across;
        const way = ease(forward ? t : 1 - t);
        for (const { start, sizes } of bundles) shrink(column(x), start, sizes, way);
      }
      const band = sums.subarray(0, 4 * (until - from) * height);
      kernels.curves(band, height, bends, from, list, 1);
      for (let x = from; x < until; x++) {
        kernels.image(column(x), pixels.subarray(4 * (first + x)), width, 1);
      }
    }
    use(pixels);
  } finally {
    release();
  }

  /** Add the ends, shrunk towards the start, at a share of the way from it. */
  function shrink(
    column: Float32Array,
    start: number,
    sizes: readonly Float32Array[],
    way: number,
  ) {
    const size = Math.min(SIZES - 1, Math.floor(-Math.log2(way)));
    const step = 1 / (way * cell * 2 ** size);
    const top = Math.floor(start * (1 - way));
    const bottom = Math.min(height, Math.ceil(top + height * way) + 1);
    const place = (top + 0.5 - start * (1 - way)) / way / (cell * 2 ** size) - 0.5;
    kernels.project(sizes[size], place, step, 1, column.subarray(4 * top, 4 * bottom));
  }

  function sizesOf(ends: Float32Array): readonly Float32Array[] {
    let sums = ends;
    return Array.from({ length: SIZES }, () => {
      const size = kernels.floats(sums.length);
      for (let at = 0; at < sums.length; at++) size[at] = sums[at] / Math.max(1, sums[at | 3]);
      sums = halved(sums);
      return size;
    });
  }
}

function halved(cells: Float32Array): Float32Array {
  const out = new Float32Array(4 * Math.ceil(cells.length / 8));
  for (let at = 0; at < cells.length; at++) out[4 * (at >> 3) + (at & 3)] += cells[at] / 2;
  return out;
}
