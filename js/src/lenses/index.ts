/** The lenses: those that are computed here have a file each and are listed, the others are generic. */

import {
  type AttentionMatrix,
  combinedMatrix,
  differenceMatrix,
  type MatrixSpec,
  type Source,
  storedMatrix,
  wordMatrix,
} from "../data/attention-matrix.ts";
import { DifferenceLayer, type Layer } from "../data/layer.ts";
import type { LayerData } from "../data/layer-data.ts";
import { type LayerInfo, type LensInfo, whyNot } from "../data/manifest.ts";
import type { LensNumbers } from "../data/stack-store.ts";
import { attention } from "./attention.ts";
import { shareMatrix } from "./factors.ts";
import { type BrowserLens, peakOf } from "./lens.ts";
import { numbersMatrix } from "./numbers.ts";
import { scores } from "./scores.ts";

const BROWSER: ReadonlyMap<string, BrowserLens> = new Map(
  [attention, scores].map((lens) => [lens.name, lens]),
);

/** False for a lens that a newer version computes. */
export const isKnown = ({ kind, name }: LensInfo): boolean =>
  kind !== "browser" || BROWSER.has(name);

/** The reason why a layer of a record lacks a lens; null if it has it. */
export const lackOf = (lens: LensInfo, stack: string, layer: LayerInfo) =>
  whyNot(lens, stack, layer.number) ?? BROWSER.get(lens.name)?.lacks?.(layer) ?? null;

/** The ingredients of a matrix besides its layer. */
interface Ingredients {
  /** The queries and keys of its overview, as in `Choices`. */
  readonly segments?: string;
  /** The matrices of a lens that has some: those of the layer, or of both sides of B − A. */
  readonly numbers?: readonly LensNumbers[] | undefined;
}

/** The numbers of a head by a lens, or their B − A; null where the layer lacks what they need. */
export function lensMatrix(
  lens: LensInfo,
  layer: Layer,
  head: number,
  { segments = "all", numbers = [] }: Ingredients = {},
): AttentionMatrix | null {
  if (layer instanceof DifferenceLayer) {
    const [a, b] = layer.sides.map((side, at) =>
      lensMatrix(lens, side, head, { segments, numbers: numbers.slice(at, at + 1) }),
    );
    if (!a || !b) return null;
    const matrix = differenceMatrix(a, b, layer.info.peaks?.[lens.name]?.[head]);
    const overview = a.overview || b.overview ? layer.overview(head, segments) : undefined;
    // Matrices of layers have peaks of their own, unless they are shares, but their B − A has none.
    const scaled = lens.kind === "browser" || a.peak !== undefined || b.peak !== undefined;
    return matrix.peak === undefined && scaled
      ? { ...matrix, peak: peakOf(lens, layer, head, matrix.row) }
      : { ...matrix, overview };
  }
  if (lens.kind === "browser") {
    return BROWSER.get(lens.name)?.matrix(lens, layer, head, segments) ?? null;
  }
  if (lens.kind === "factors") return shareMatrix(lens, layer, head);
  return numbers.length ? numbersMatrix(lens, layer, head, numbers[0]) : null;
}

/** Build a matrix from its recipe and its source, or a copy of the source. */
export function matrixFrom(spec: MatrixSpec, source: Source): AttentionMatrix {
  switch (spec.kind) {
    case "lens": {
      const matrix = lensMatrix(spec.lens, source as LayerData, spec.head);
      if (!matrix) throw new Error(`This layer has no ${spec.lens.many}.`);
      return matrix;
    }
    case "matrix":
      return storedMatrix(spec.name, source as Float32Array, spec.keys);
    case "combined": {
      const matrices = spec.of.map((part) => matrixFrom(part, source));
      return combinedMatrix(spec.name, matrices, spec.how);
    }
    case "words":
      return wordMatrix(matrixFrom(spec.of, source), spec.queries, spec.keys, spec.how);
  }
}
