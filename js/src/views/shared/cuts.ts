/** Marks of cut links on matrices and lines. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import type { Painter } from "../../painting/painter.ts";
import type { HeadPlace } from "../../state/choices.ts";
import { cutsOf } from "../../state/off.ts";
import type { State } from "../../state/state.ts";
import { alpha, type Palette } from "../../styles/palette.ts";
import type { DrawnArc } from "./arcs.ts";
import { type Axes, type Axis, type CutUnits, unitsAt } from "./axes.ts";
import { strokeLines } from "./curves.ts";
import type { Viewport } from "./matrix/viewport.ts";

/** The most links of a cut that are drawn between the columns. */
const MOST_LINES = 24;
/** The least cell with a cross, in CSS pixels; smaller ones are filled. */
const CROSS_FROM = 8;

/** The cut links of the head that is looked at. */
export const shownCuts = (
  state: State,
  axes: Axes,
  head: () => HeadPlace,
): ReadonlySignal<readonly CutUnits[]> =>
  computed(() =>
    cutsOf(state, head()).map(([queries, keys]) => {
      const on = (axis: Axis, positions: readonly number[] | null) =>
        positions ? unitsAt(axis, positions) : axis.shown;
      return { query: on(axes.query, queries), key: on(axes.key, keys) };
    }),
  );

/** Dashed links for the columns, of cuts that have few. */
export const cutArcs = (cuts: readonly CutUnits[], matrix: AttentionMatrix): readonly DrawnArc[] =>
  cuts.flatMap(({ query, key }) => {
    const count = query.length * key.length;
    if (count > MOST_LINES) return [];
    return query.flatMap((from) => {
      const weights = matrix.row(from);
      return key
        .filter((to) => isSeen(weights[to]))
        .map((to) => ({
          ...{ label: count === 1 ? "cut" : "", by: "query" as const, hit: false },
          ...{ query: [from], key: [to] },
        }));
    });
  });

/** False for a key that a query does not see anyhow, which has no weight or a score of −∞. */
const isSeen = (value: number): boolean => value !== 0 && Number.isFinite(value);

/** Cross the cells of cut links out. */
export function paintCuts(
  painter: Painter,
  { text, background }: Palette,
  axes: Axes,
  { cell, row, column, across, down }: Viewport,
  cuts: readonly CutUnits[],
  matrix: AttentionMatrix,
): void {
  const inset = cell / 4;
  for (const { query, key } of cuts) {
    for (const unit of query) {
      const top = (axes.query.places[unit] - row) * cell;
      if (top <= -cell / 2 || top >= down - cell / 2) continue;
      const weights = matrix.row(unit);
      for (const to of key) {
        const left = (axes.key.places[to] - column) * cell;
        if (left <= -cell / 2 || left >= across - cell / 2 || !isSeen(weights[to])) continue;
        painter.fillStyle = alpha(background, 0.8);
        painter.fillRect(left, top, cell, cell);
        if (cell < CROSS_FROM) continue;
        painter.strokeStyle = text;
        painter.lineWidth = 1.2;
        const [x, y] = [left + inset, top + inset];
        const [toX, toY] = [left + cell - inset, top + cell - inset];
        strokeLines(painter, [x, y, toX, toY], [toX, y, x, toY]);
      }
    }
  }
}
