/**
 * The matrices that the choices ask for: of single heads or of several combined, between tokens or
 * words; and their rows and columns in focus.
 */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { largestOf } from "../../../basics/extremes.ts";
import {
  type AttentionMatrix,
  combinedMatrix,
  storedMatrix,
  wordMatrix,
} from "../../../data/attention-matrix.ts";
import type { Combined } from "../../../data/combine.ts";
import type { Layer } from "../../../data/layer.ts";
import type { LensInfo, StackInfo } from "../../../data/manifest.ts";
import { headWords, layerNumber } from "../../../data/pairing.ts";
import { shownSegments } from "../../../data/shown.ts";
import type { LensNumbers } from "../../../data/stack-store.ts";
import { lensMatrix } from "../../../lenses/index.ts";
import { combination } from "../../../state/choices.ts";
import { attentionOf, isWeights, joinsWords } from "../../../state/lens.ts";
import { activeHeads } from "../../../state/navigation.ts";
import type { State } from "../../../state/state.ts";
import { type Axes, type FocusedUnits, sideOf } from "../axes.ts";

const HOW = { mean: "Mean", max: "Largest" } as const;

/** The lens that is shown, and its matrices, if it has some. */
export interface Reading {
  readonly lens: LensInfo;
  readonly numbers?: readonly LensNumbers[] | undefined;
}

/** The words for numbers other than weights: "scores, B − A". */
export const suffixOf = ({
  lens,
  difference,
}: Pick<AttentionMatrix, "lens" | "difference">): string =>
  [isWeights(lens) ? "" : lens.label.toLowerCase(), difference ? "B − A" : ""]
    .filter(Boolean)
    .join(", ");

export function shownMatrix(
  state: State,
  data: Layer,
  axes: Axes,
  head: number,
  { lens, numbers }: Reading,
): AttentionMatrix {
  const segments = shownSegments(state.segments.value, data.stack);
  const matrix =
    lensMatrix(lens, data, head, { segments, numbers }) ??
    (lensMatrix(attentionOf(state), data, head, { segments }) as AttentionMatrix);
  return joinsWords(state) ? wordMatrix(matrix, axes.query.units, axes.key.units) : matrix;
}

/** The matrices of the active heads, or one that combines them; of whole layers, that of this one. */
export function shownMatrices(
  state: State,
  data: Layer,
  axes: Axes,
  reading: Reading,
): readonly AttentionMatrix[] {
  if (reading.lens.kind === "layers") return [shownMatrix(state, data, axes, 0, reading)];
  const active = activeHeads(state, data.info.heads);
  const matrices = active.map((head) => shownMatrix(state, data, axes, head, reading));
  const together = combination(state.combine.value);
  if (together?.over !== "heads") return matrices;
  const { how } = together;
  const what = active.length === 1 ? headWords(data.info, active[0]) : `${active.length} heads`;
  const of = suffixOf(matrices[0]);
  return [combinedMatrix(`${HOW[how]} of ${what}${of && `, ${of}`}`, matrices, how)];
}

/** The matrix that combines every head of every layer. */
export function stackMatrix(
  state: State,
  stack: StackInfo,
  combined: Combined,
  axes: Axes,
): AttentionMatrix {
  const how = combination(state.combine.value)?.how ?? "mean";
  const heads = stack.layers.flatMap((layer) =>
    Array.from(
      { length: layer.heads },
      (_, head) => `layer ${layerNumber(layer)}, ${headWords(layer, head)}`,
    ),
  );
  // Words may have fewer units than there are tokens.
  const keys = axes.key.units.of.length;
  const name = `${HOW[how]} of all ${heads.length} heads`;
  // The maxima of tokens do not give those of sums over words, so this is the largest between their
  // tokens.
  const by = state.words.value && how === "max" ? `${name}, by token` : name;
  const title = stack.difference ? `${by}, B − A` : by;
  const difference = stack.difference && {
    difference: true,
    peak: largestOf(combined[how].map(Math.abs)),
  };
  const matrix: AttentionMatrix = {
    ...storedMatrix(title, combined[how], keys, combined.rowRounding[how]),
    ...difference,
    origin:
      how === "mean" ? undefined : (query, key) => heads[combined.head[query * keys + key]] ?? "",
  };
  if (!state.words.value) return matrix;
  const joined = how === "max" ? "largest" : "attention";
  return wordMatrix(matrix, axes.query.units, axes.key.units, joined);
}

export const combinesLayers = ({ combine }: State): boolean =>
  combination(combine.value)?.over === "layers";

/**
 * By matrix, the weights from every focused query to each key, or from each query to every focused
 * key; null while one is missing, or without a focus.
 */
export function rowsOf(
  matrices: ReadonlySignal<readonly AttentionMatrix[]>,
  focused: ReadonlySignal<FocusedUnits>,
): ReadonlySignal<readonly (readonly Float32Array[])[] | null> {
  return computed(() => {
    const side = sideOf(focused.value);
    // Every matrix is asked for columns, so that all begin their work.
    const columns = () => matrices.value.map((matrix) => matrix.hasColumns()).every(Boolean);
    if (!side || (side === "key" && !columns())) return null;
    const units = focused.value[side];
    const rows = matrices.value.map((matrix) =>
      units.map((unit) => (side === "query" ? matrix.row(unit) : matrix.column(unit))),
    );
    // A missing row is NaN.
    return rows.flat().some((row) => Number.isNaN(row[0])) ? null : rows;
  });
}

/** By matrix, the sum of these rows or columns. */
export function stripsOf(
  matrices: ReadonlySignal<readonly AttentionMatrix[]>,
  focused: ReadonlySignal<FocusedUnits>,
): ReadonlySignal<readonly Float32Array[] | null> {
  const rows = rowsOf(matrices, focused);
  return computed(() => rows.value?.map(total) ?? null);
}

export const total = (rows: readonly Float32Array[]): Float32Array =>
  rows.length === 1 ? rows[0] : rows[0].map((_, n) => rows.reduce((sum, row) => sum + row[n], 0));
