/** Draws more lines than pixels can show apart, by summing them in cells of a matrix. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import { RadonField } from "../kernels/radon.ts";
import { steepness as slopeOf } from "../kernels/shape.ts";
import { workspace } from "../kernels/workspace.ts";
import { pacer } from "../scheduling/slices.ts";
import { type LinesJob, type ShowLines, shareOf, thickness } from "./lines-job.ts";
import { Mixer } from "./mixer.ts";

/** The most cells per side: more would exceed the pixels of a screen. */
const MOST_CELLS = 1024;

/** The number of rounds over the rows, each spread over the whole matrix. */
const ROUNDS = 32;

/** The first round whose picture resembles the final one. */
const FIRST_SHOWN = ROUNDS / 4;

export function* paintCells(
  matrices: readonly AttentionMatrix[],
  job: LinesJob,
  show: ShowLines,
): Generator<void> {
  const { rows, columns, from, to, width, height, inks, ratio } = job;
  const size = powerFrom(Math.min(MOST_CELLS, Math.max(rows.length, columns.length)));
  const spacing = height / Math.max(rows.length, columns.length);
  // One cell per token, or larger cells if there are more tokens than cells.
  const cell = Math.max(spacing, height / size);
  const numbers =
    RadonField.numbers(size, width, height) +
    Mixer.numbers(matrices.length, columns.length) +
    4 * size;
  const { kernels, release } = workspace(numbers);
  try {
    const field = new RadonField(size, width, height, kernels);
    const mixer = new Mixer(matrices, columns, inks, kernels);
    const steepness = new Steepness(size, cell, width);
    const row = kernels.floats(4 * size);
    const queries = placesOf(from, spacing / cell, cell);
    const keys = placesOf(to, spacing / cell, cell);
    let drawn = 0;
    let done = 0;
    const due = pacer();
    for (let round = 0; round < ROUNDS; round++) {
      for (let at = round; at < rows.length; at += ROUNDS) {
        drawn += mixer.mix(rows[at]);
        const { mixed } = mixer;
        const [first, share] = [queries.first[at], queries.share[at]];
        const last = mixed.length ? keys.first[mixed.length / 4 - 1] + 1 : 0;
        const reached = row.subarray(0, 4 * (last + 1)).fill(0);
        addKeys(reached, mixed, keys, first, ratio, steepness);
        field.add(first, reached, 1 - share);
        if (share > 0) field.add(first + 1, reached, share);
        done++;
        yield;
      }
      // Scaled up as if the missing rows were like those so far.
      if (round >= FIRST_SHOWN && due()) {
        const gains = steepness.gains().map((gain) => (gain * rows.length) / done);
        show(yield* field.pixels(cell, gains), null);
      }
    }
    show(yield* field.pixels(cell, steepness.gains()), shareOf(drawn, mixer.total));
  } finally {
    release();
  }
}

/** The first cell of each token, and the token's share of the next cell. */
interface Places {
  readonly first: Uint32Array;
  readonly share: Float32Array;
}

/** @param extent the height of a token in cells, at most 1 */
function placesOf(middles: ArrayLike<number>, extent: number, cell: number): Places {
  const first = new Uint32Array(middles.length);
  const share = new Float32Array(middles.length);
  for (let n = 0; n < middles.length; n++) {
    const start = middles[n] / cell - extent / 2;
    // Rounding must not shift a token into the cell before, or let it just reach the next.
    first[n] = Math.floor(start + 1e-3);
    const over = (start + extent - first[n] - 1) / extent;
    share[n] = over > 1e-3 ? over : 0;
  }
  return { first, share };
}

/** Add the weights of the query in this cell to the cells of the keys. */
function addKeys(
  row: Float32Array,
  mixed: Float32Array,
  keys: Places,
  query: number,
  ratio: number,
  { factors, weights }: Steepness,
): void {
  for (let key = 0, n = 0; n < mixed.length; key++, n += 4) {
    const most = mixed[n + 3];
    if (most === 0) continue;
    const [first, share] = [keys.first[key], keys.share[key]];
    const distance = Math.abs(first - query);
    const weight = Math.min(1, most) * thickness(most, ratio);
    weights[distance] += weight;
    const steep = weight * factors[distance];
    add(row, 4 * first, mixed, n, steep * (1 - share));
    if (share > 0) add(row, 4 * (first + 1), mixed, n, steep * share);
  }
}

function add(row: Float32Array, to: number, mixed: Float32Array, from: number, weight: number) {
  row[to] += weight * mixed[from];
  row[to + 1] += weight * mixed[from + 1];
  row[to + 2] += weight * mixed[from + 2];
  row[to + 3] += weight;
}

/** The coverage of lines: a line covers more of a pixel column the steeper it is. */
class Steepness {
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
      const slope = slopeOf((x + 0.5) / this.width);
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

/** The smallest power of two that is at least `count`. */
const powerFrom = (count: number) => 2 ** Math.ceil(Math.log2(Math.max(2, count)));
