/** The attention of the focused units: a row of each matrix, a column, or several of either. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import { type FocusedUnits, sideOf } from "./axes.ts";

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
    if (!side || (side === "key" && !columnsIn(matrices.value))) return null;
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

/** True if columns of every matrix can be had; asks every matrix, so that all begin their work. */
const columnsIn = (matrices: readonly AttentionMatrix[]) =>
  matrices.map((matrix) => matrix.hasColumns()).every(Boolean);
