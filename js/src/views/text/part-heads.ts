/** Every head's attention on parts that are no whole sentences, by all layers in turn. */

import { pauses } from "../../data/combine.ts";
import type { StackStore } from "../../data/stack-store.ts";

/**
 * @param parts the keys of each that count
 * @param first the first row
 * @returns [rows, parts, heads]; null where a layer is not here as a whole
 */
export async function partHeads(
  store: StackStore,
  parts: readonly (readonly number[])[],
  first: number,
  rows: number,
  signal: AbortSignal,
): Promise<Float32Array | null> {
  const { layers } = store.info;
  const all = layers.reduce((sum, { heads }) => sum + heads, 0);
  const found = new Float32Array(rows * parts.length * all);
  const pause = pauses();
  let at = 0;
  for (const { number, heads } of layers) {
    const layer = (await store.fetch(number, signal))?.whole;
    if (!layer) return null;
    for (let head = 0; head < heads; head++, at++) {
      for (let row = 0; row < rows; row++) {
        const weights = layer.weightRow(head, first + row);
        parts.forEach((keys, part) => {
          const sum = keys.reduce((total, key) => total + weights[key], 0);
          found[(row * parts.length + part) * all + at] = sum;
        });
      }
      await pause();
      signal.throwIfAborted();
    }
  }
  return found;
}
