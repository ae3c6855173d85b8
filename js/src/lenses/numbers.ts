/** Matrices that were computed beforehand, of each head or of the layer. */

import { type AttentionMatrix, storedMatrix } from "../data/attention-matrix.ts";
import type { RecordLayer } from "../data/layer.ts";
import type { LensInfo } from "../data/manifest.ts";
import type { LensNumbers } from "../data/stack-store.ts";
import { ofWeights } from "./lens.ts";

export function numbersMatrix(
  lens: LensInfo,
  layer: RecordLayer,
  head: number,
  { matrices, rounding }: LensNumbers,
): AttentionMatrix {
  const { number } = layer.info;
  const at = lens.kind === "heads" ? head : 0;
  const of = lens.accumulates && number ? `layers 0–${number}` : `layer ${number}`;
  const rows = new Float32Array(layer.numQueries).fill(rounding[at]);
  const matrix = storedMatrix(`${lens.label} of ${of}`, matrices[at], layer.numKeys, rows, lens);
  const peak = layer.info.peaks?.[lens.name]?.[at];
  if (lens.kind === "layers") return { ...matrix, peak };
  const { name, beside } = ofWeights(lens, layer, head);
  return { ...matrix, name, beside, head, peak };
}
