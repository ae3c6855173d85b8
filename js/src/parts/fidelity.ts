/** The precision of a layer's numbers, and how far they can be trusted, in words. */

import type { LayerInfo } from "../data/manifest.ts";
import { roundedUp } from "./text.ts";

const UNCONFIRMED = "not confirmed against the model";
const CONTRADICTED = "queries and keys give other weights";
const KEPT = "kept as weights";

/** All remarks about one layer. */
export function remarks(layer: LayerInfo): readonly string[] {
  return [...doubts(layer), ...(isKeptAsWeights(layer) ? [KEPT] : [])];
}

/** The doubts about one layer, if there are any. */
export function doubts({ fidelity, program }: LayerInfo): readonly string[] {
  if (fidelity.exact !== false) return [];
  // Weights from the user, not captured from a module, are shown as they are.
  return [program || fidelity.module ? UNCONFIRMED : CONTRADICTED];
}

/** True where no score program gives the model's weights. */
const isKeptAsWeights = ({ program, bare }: LayerInfo) => !program && !bare;

/** The layers that are kept as weights, as a piece of a legend; "" for none. */
export function keptAsWeights(layers: readonly LayerInfo[]): string {
  const kept = layers.filter(isKeptAsWeights);
  if (!kept.length) return "";
  return kept.length === layers.length ? KEPT : `${layerNames(kept)} ${KEPT}`;
}

/**
 * The largest difference of the browser's weights from the record's, in words.
 * @param rows how many rows that was measured in; null for all.
 */
export function weightsWithin(error: number, rows: number | null): string {
  const within = error === 0 ? "weights as recorded" : `weights within ±${roundedUp(error)}`;
  return rows === null ? within : `${within} in ${rows} sampled rows`;
}

/** The same of the components of queries and keys. */
export const vectorsWithin = (error: number | null) =>
  error === null ? "q and k in float16" : `q and k within ±${roundedUp(error)}`;

/** Said of a model whose own numbers are rounded far more than ours; "" of any other. */
export function halfPrecision({ fidelity }: LayerInfo): string {
  return fidelity.tolerance > 1e-3 ? "model computed in half precision" : "";
}

/** "layer 3", or "layers 0–2, 5". */
export function layerNames(layers: readonly Pick<LayerInfo, "number">[]): string {
  const runs: [first: number, last: number][] = [];
  for (const { number } of layers) {
    const run = runs.at(-1);
    if (run && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  const names = runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`));
  return `${layers.length > 1 ? "layers" : "layer"} ${names.join(", ")}`;
}
