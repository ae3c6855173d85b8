/** One head of one layer, opened within the model view: its lines, and its matrix. */

import { computed } from "@preact/signals-core";
import type { Layer } from "../../data/layer.ts";
import { el } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { headColors } from "../../styles/head-colors.ts";
import { axesOf, lookOf } from "../shared/axes.ts";
import { shownMatrix } from "../shared/heads/matrices.ts";
import { headStatus } from "../shared/heads/status.ts";
import { headTables } from "../shared/heads/tables.ts";
import { headIn, type Inside, layerView } from "../shared/layer-view.ts";
import { matrixView } from "../shared/matrix/matrix.ts";
import { pairs } from "../shared/pairs.ts";
import type { Context, View } from "../shared/view.ts";

/** It stands between rows of other heads, so it is lower than the head view. */
const HEIGHT = 400;
const ROW_BOUNDS = [16, 24] as const;
/** From this width on, the matrix stands beside the lines. */
const BESIDE_FROM = 620;
const GAP = 56;
/** Room for the names above the matrix, and beside it. */
const NAMES = 76;
/** Longer texts do not stand beside the matrix as a whole. */
const SHORT = 24;
const NAMED_FROM = 1000;

/** @param width in CSS pixels. */
export function detail(context: Context, width: number): Omit<View, "tools"> {
  return layerView(context, (data, own) => inside(own, context, data, width));
}

function inside(scope: Scope, { state, palette }: Context, data: Layer, width: number): Inside {
  const axes = axesOf(state, data.stack);
  const look = lookOf(state, axes);
  const [rows, columns] = [axes.query.shown.length, axes.key.shown.length];
  const head = computed(() => headIn(state, data));
  const matrix = computed(() => shownMatrix(state, data, axes, head.value));
  const matrices = computed(() => [matrix.value]);
  const beside = width >= BESIDE_FROM;
  const most = Math.max(rows, columns);
  // The names of a short text's rows are beside it already.
  const namesRows = !beside || (most > SHORT && width >= NAMED_FROM);
  const fitting = ((HEIGHT - NAMES) * most) / rows + (namesRows ? NAMES : 0);
  const matrixWidth = Math.min(fitting, beside ? (width - GAP) / 2 : width);
  const drawn = pairs(scope, {
    state,
    palette,
    axes,
    width: beside ? width - matrixWidth - GAP : width,
    height: HEIGHT,
    rowHeight: Math.max(ROW_BOUNDS[0], Math.min(ROW_BOUNDS[1], Math.floor(HEIGHT / most))),
    horizontal: false,
    matrices,
    colors: computed(() => [headColors(data.info.heads, palette.value.dark)[head.value]]),
    look,
  });
  const where = `Layer ${data.info.number}`;
  const picture = matrixView(scope, {
    state,
    palette,
    axes,
    matrix,
    // The panel around it says which head it is.
    title: computed(() => ""),
    look,
    width: matrixWidth,
    namesRows,
  });
  const seen = { state, data, axes, where, look, matrices, pictured: matrix, strips: drawn.strips };
  return {
    element: el("div", { class: `head-view ${beside ? "beside" : ""}` }, drawn.element, picture),
    status: computed(() => headStatus(seen)),
    legend: computed(() => (!data.whole ? ["   the opened head is drawn from its overview"] : [])),
    tables: computed(() => headTables(seen)),
    // It is a part of the model view's.
    figure: () => null,
  };
}
