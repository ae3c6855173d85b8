/** Lenses as a record has them. */

import type { AttentionMatrix } from "../../src/data/attention-matrix.ts";
import type { Layer, RecordLayer } from "../../src/data/layer.ts";
import { ATTENTION, type LensInfo } from "../../src/data/manifest.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { lensMatrix } from "../../src/lenses/index.ts";
import { RECORD } from "./vectors.ts";

/** A lens of the record of the vectors, with other fields. */
export function lensNamed(name: string, others: Partial<LensInfo> = {}): LensInfo {
  const lens = readManifest(RECORD.manifest).lenses.find((each) => each.name === name);
  if (!lens) throw new Error(`no lens ${name}`);
  return { ...lens, ...others };
}

export function matrixBy(name: string, layer: Layer, head: number): AttentionMatrix {
  const matrix = lensMatrix(lensNamed(name), layer, head);
  if (!matrix) throw new Error(`no ${name}`);
  return matrix;
}

export function headMatrix(layer: RecordLayer, head: number): AttentionMatrix {
  const matrix = lensMatrix(ATTENTION, layer, head);
  if (!matrix) throw new Error("no attention");
  return matrix;
}
