/** Combines every head of every layer into one matrix, if no kernel does. */

import { largestOf } from "../basics/extremes.ts";
import type { LayerData } from "./layer-data.ts";
import type { StackInfo } from "./manifest.ts";

export type Combined = Awaited<ReturnType<typeof combine>>;

/** The longest time without a pause for the page. */
const SLICE_MS = 12;

/** Returns a function that pauses for the page if the work has taken long enough. */
export function pauses(): () => Promise<void> | null {
  let until = performance.now() + SLICE_MS;
  return () => {
    if (performance.now() < until) return null;
    return new Promise((resolve) =>
      setTimeout(() => {
        until = performance.now() + SLICE_MS;
        resolve();
      }),
    );
  };
}

/** The largest matrix: two larger ones would fill the memory of a page. */
const LARGEST_BYTES = 2 ** 28;

/**
 * All heads of a stack as one, [Tq, Tk] row by row.
 *
 * @param layers in turn, so that no more than one needs to be in memory
 */
export async function combine({ queries, keys }: StackInfo, layers: AsyncIterable<LayerData>) {
  const [rows, columns] = [queries.labels.length, keys.labels.length];
  if (4 * rows * columns > LARGEST_BYTES) {
    throw new Error(`${rows} × ${columns} tokens are too many to show all layers as one.`);
  }
  const matrix = (): Float32Array => new Float32Array(rows * columns);
  const [mean, max] = [matrix(), matrix()];
  /** The first head with the maximum, counted through all layers from 0. */
  const head = matrix();
  let heads = 0;
  /** Bounds of the differences of the weights of each query from the record's. */
  const rowRounding = { mean: new Float32Array(rows), max: new Float32Array(rows) };
  const pause = pauses();
  for await (const layer of layers) {
    for (let own = 0; own < layer.info.heads; own++, heads++) {
      for (let query = 0; query < rows; query++) {
        const row = layer.weightRow(own, query);
        const error = layer.rowRounding(own, query);
        rowRounding.mean[query] += error;
        rowRounding.max[query] = Math.max(rowRounding.max[query], error);
        for (let key = 0, at = query * columns; key < columns; key++, at++) {
          mean[at] += row[key];
          if (row[key] <= max[at]) continue;
          max[at] = row[key];
          head[at] = heads;
        }
        const paused = pause();
        if (paused) await paused;
      }
    }
  }
  for (let at = 0; at < mean.length; at++) mean[at] /= heads;
  for (let query = 0; query < rows; query++) rowRounding.mean[query] /= heads;
  // The error of a maximum is at most the largest error of its values.
  return { mean, max, head, rounding: largestOf(rowRounding.max), rowRounding };
}
