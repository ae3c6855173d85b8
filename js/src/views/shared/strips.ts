/** The attention of the focused units: a row of each matrix, a column, or a sum of several. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import type { Side } from "../../state/state.ts";
import { type FocusedUnits, sideOf } from "./axes.ts";

/** By matrix, for each unit of the other side; null while it is missing, or without a focus. */
export function stripsOf(
  matrices: ReadonlySignal<readonly AttentionMatrix[]>,
  focused: ReadonlySignal<FocusedUnits>,
): ReadonlySignal<readonly Float32Array[] | null> {
  return computed(() => {
    const side = sideOf(focused.value);
    if (!side || (side === "key" && !columnsIn(matrices.value))) return null;
    const rows = rowsOf(matrices.value, side, focused.value[side]);
    // A missing row is NaN.
    return rows.some((row) => Number.isNaN(row[0])) ? null : rows;
  });
}

/** True if columns of every matrix can be had; asks every matrix, so that all begin their work. */
const columnsIn = (matrices: readonly AttentionMatrix[]) =>
  matrices.map((matrix) => matrix.hasColumns()).every(Boolean);

/** The attention from these queries to every key, or from every query to these keys. */
function rowsOf(
  matrices: readonly AttentionMatrix[],
  side: Side,
  units: readonly number[],
): readonly Float32Array[] {
  return matrices.map((matrix) => {
    const rows = units.map((unit) => (side === "query" ? matrix.row(unit) : matrix.column(unit)));
    if (rows.length === 1) return rows[0];
    return rows[0].map((_, n) => rows.reduce((sum, row) => sum + row[n], 0));
  });
}
