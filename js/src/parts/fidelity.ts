/**
 * The precision of a layer’s numbers, doubts about them, and layers that are not here, in words.
 */

import type { LayerInfo, Manifest } from "../data/manifest.ts";
import { Absent } from "../data/resource-cache.ts";
import { capitalized, number, ranges, roundedUp } from "./text.ts";

const UNCONFIRMED = "not confirmed against the model";
const CONTRADICTED = "queries and keys give other weights";
const NOT_ONE = "rows do not sum to 1";
const ASSUMED = "stack and labels assumed from names and lengths";
const KEPT = "kept as weights";
const KEPT_SIGNED = "kept as coefficients";

/** All remarks about one layer. */
export function remarks(layer: LayerInfo): readonly string[] {
  return [...doubts(layer), ...(isKeptAsWeights(layer) ? [keptAs([layer])] : [])];
}

/** Doubts about a layer's weights, and about the words that they are shown beside. */
export function doubts({ fidelity, program, sums, signed }: LayerInfo): readonly string[] {
  // Weights that the user provided are shown as they are.
  const doubt = program || signed || fidelity.module ? UNCONFIRMED : CONTRADICTED;
  return [
    ...(fidelity.exact === false ? [doubt] : []),
    ...(fidelity.labels === "assumed" ? [ASSUMED] : []),
    ...(sums ? [NOT_ONE] : []),
  ];
}

/** A doubt about layers, with the sums of their rows if these are in doubt. */
export function doubtAbout(layers: readonly LayerInfo[], doubt: string): string {
  const text = `⚠ ${capitalized(layerNames(layers))}: ${doubt}`;
  if (doubt !== NOT_ONE) return text;
  const ends = layers.flatMap(({ sums }) => sums ?? []);
  const [least, most] = [Math.min(...ends), Math.max(...ends)].map((end) => number(end));
  return `${text}, but to ${least === most ? least : `between ${least} and ${most}`}`;
}

/** True if no score program reproduces the model's weights. */
const isKeptAsWeights = ({ program, recurrence, bare }: LayerInfo) =>
  !program && !recurrence && !bare;

const keptAs = ([{ signed }]: readonly LayerInfo[]) => (signed ? KEPT_SIGNED : KEPT);

/** A note about the layers that are kept as weights; "" for none. */
export function keptAsWeights(layers: readonly LayerInfo[]): string {
  const kept = layers.filter(isKeptAsWeights);
  if (!kept.length) return "";
  return kept.length === layers.length ? keptAs(kept) : `${layerNames(kept)} ${keptAs(kept)}`;
}

/**
 * The largest difference between the weights here and the record's, in words.
 *
 * @param rows the number of rows that it was measured in; null if in all
 * @param what the numbers
 */
export function weightsWithin(error: number, rows: number | null, what = "weights"): string {
  const within = error === 0 ? `${what} as recorded` : `${what} within ±${roundedUp(error)}`;
  return rows === null ? within : `${within} in ${rows} sampled rows`;
}

/** The largest difference of the components of queries and keys, in words. */
export const vectorsWithin = (error: number) =>
  error === 0 ? "q and k as recorded" : `q and k within ±${roundedUp(error)}`;

/** A note about a model computed in half precision, whose rounding exceeds ours; "" for others. */
export function halfPrecision({ fidelity }: LayerInfo): string {
  return fidelity.tolerance > 1e-3 ? "model computed in half precision" : "";
}

/** The distance of a generated text's record from its generation, in words; "" for other texts. */
export function replayed({ replay }: Manifest): string {
  if (!replay) return "";
  const { difference, reason } = replay;
  if (difference === 0) return "recorded as it was generated";
  // Less than float32 can tell is no difference.
  const within =
    difference < 1e-8
      ? "as generated"
      : `within ${roundedUp(100 * difference)}% of the generation’s`;
  return `read once more: logits ${within}${reason && ` (${reason})`}`;
}

/** "layer 3", or "layers 0–2, 5". */
export function layerNames(layers: readonly Pick<LayerInfo, "number">[]): string {
  const numbers = layers.map(({ number }) => number);
  return `${layers.length > 1 ? "layers" : "layer"} ${ranges(numbers)}`;
}

/**
 * The message for a layer that a page does not have.
 *
 * @param others the layers of this stack that the page has
 */
export function leftOut(layer: number, others: Layers): Absent {
  return new Absent(`Layer ${layer} was left out of this page${only(others)}.`);
}

/** @param saved the layers of this stack that were saved with the widget */
export function notSaved(layer: number, saved: Layers): Absent {
  return new Absent(
    `Layer ${layer} is not saved in this page${only(saved)}, and no kernel is ` +
      "connected. The model view still works. To have all layers, call widget.embed() before " +
      "saving, or run the cell again.",
  );
}

/** The time without an answer from the kernel after which the reader is asked what to do. */
export const SILENCE_MS = 15_000;

/** @param what the missing resource, as "layer 3" */
export const unanswered = (what: string) =>
  `The kernel has not sent ${what} for ${SILENCE_MS / 1000} seconds. It may be busy, and ` +
  "answer later. If it was restarted or stopped, run the cell again.";

type Layers = readonly { readonly number: number }[];

const only = (layers: Layers) => (layers.length ? `, which has ${layerNames(layers)}` : "");
