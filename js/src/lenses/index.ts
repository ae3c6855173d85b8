/** The numbers of a head by the lens that is chosen, also in a worker, and why a layer may lack it. */

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
import { attentionMatrix, numbersMatrix, peakOf, scoreMatrix, shareMatrix } from "./lens.ts";

/** The lenses whose numbers are computed here, by the names that `attnwidget/analysis/lenses` lists. */
const BROWSER = { attention: attentionMatrix, scores: scoreMatrix };

const isOurs = (name: string): name is keyof typeof BROWSER => Object.hasOwn(BROWSER, name);

/** False for a lens that a newer version computes. */
export const isKnown = ({ kind, name }: LensInfo): boolean => kind !== "browser" || isOurs(name);

/** Why a page has no scores of a layer whose queries and keys are recorded. */
const WEIGHTS_ALONE = { brief: "weights alone", sentence: "is in this page as weights alone" };

/** The reason why a layer of a record lacks a lens; null if it has it. */
export const lackOf = (lens: LensInfo, stack: string, { number, program }: LayerInfo) =>
  whyNot(lens, stack, number) ?? (lens.name === "scores" && !program ? WEIGHTS_ALONE : null);

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
    return isOurs(lens.name) ? BROWSER[lens.name](lens, layer, head, segments) : null;
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
