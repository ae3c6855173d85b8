/** The content of the opened head: its lines and its matrix. */

import { computed } from "@preact/signals-core";
import type { Layer } from "../../data/layer.ts";
import { el } from "../../parts/dom.ts";
import { capitalized } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { headLens } from "../../state/lens.ts";
import { headColors } from "../../styles/head-colors.ts";
import { shownArcs } from "../shared/arcs.ts";
import { axesOf, focusedUnits } from "../shared/axes.ts";
import { shownCuts } from "../shared/cuts.ts";
import { drawnMatrices } from "../shared/heads/difference.ts";
import { type Reading, shownMatrix, suffixOf } from "../shared/heads/matrices.ts";
import { headStatus } from "../shared/heads/status.ts";
import { headTables } from "../shared/heads/tables.ts";
import { headIn, layerView } from "../shared/layer-view.ts";
import { lensNotice, numbersOf, withNumbers } from "../shared/lenses.ts";
import { matrixView } from "../shared/matrix/matrix.ts";
import { pairs } from "../shared/pairs.ts";
import { stripsOf } from "../shared/strips.ts";
import type { Context, ViewContent } from "../shared/view.ts";

/** The height of the lines: less than in the head view, since other rows of heads follow. */
const HEIGHT = 400;
const ROW_BOUNDS = [16, 24] as const;
/** The least width of the panel with the lines and the matrix side by side. */
const SIDE_BY_SIDE_FROM = 620;
/** The least width of the panel with row labels on the matrix of a text of more than `SHORT`. */
const ROW_LABELS_FROM = 1000;
const SHORT = 24;
const GAP = 56;
/** The space for the labels of the matrix, above it and to its left. */
const LABELS = 76;

/** @param width in CSS pixels. */
export function detail(context: Context, width: number): ViewContent {
  const { state, store } = context;
  const numbers = numbersOf(state, store, () => headLens(state));
  return layerView(context, (data, inner) => {
    const lens = headLens(state);
    const absent = lensNotice(data, lens);
    if (absent) return absent;
    return withNumbers(numbers.value?.value, (numbers) =>
      detailContent(inner, context, data, { lens, numbers }, width),
    );
  });
}

function detailContent(
  scope: Scope,
  { state, palette }: Context,
  data: Layer,
  reading: Reading,
  width: number,
): ViewContent {
  const axes = axesOf(state, data.stack);
  const focused = focusedUnits(state, axes);
  const [rows, columns] = [axes.query.shown.length, axes.key.shown.length];
  const head = computed(() => headIn(state, data));
  const matrix = computed(() => shownMatrix(state, data, axes, head.value, reading));
  const matrices = computed(() => [matrix.value]);
  const sideBySide = width >= SIDE_BY_SIDE_FROM;
  const longest = Math.max(rows, columns);
  // The lines beside the matrix label the rows of a short text already.
  const labelsRows = !sideBySide || (longest > SHORT && width >= ROW_LABELS_FROM);
  const fitting = ((HEIGHT - LABELS) * longest) / rows + (labelsRows ? LABELS : 0);
  const matrixWidth = Math.min(fitting, sideBySide ? (width - GAP) / 2 : width);
  // The background of the panel.
  const onPanel = computed(() => ({ ...palette.value, background: palette.value.panel }));
  const cuts = shownCuts(state, axes, () => [data.info.number, head.value]);
  const attention = { state, palette: onPanel, axes, focused, cuts };
  const colors = computed(() => [headColors(data.info.heads, palette.value.dark)[head.value]]);
  const arcs = shownArcs(state, data.stack.name, axes, matrix);
  const lines = pairs(scope, {
    ...attention,
    width: sideBySide ? width - matrixWidth - GAP : width,
    height: HEIGHT,
    rowHeight: Math.max(ROW_BOUNDS[0], Math.min(ROW_BOUNDS[1], Math.floor(HEIGHT / longest))),
    horizontal: false,
    ...drawnMatrices(matrices, colors, palette),
    arcs,
  });
  const picture = matrixView(scope, {
    ...attention,
    matrix,
    // The panel's header names the head.
    title: computed(() => capitalized(suffixOf(matrix.value))),
    width: matrixWidth,
    labelsRows,
  });
  const layerLabel = `Layer ${data.info.number}`;
  const strips = stripsOf(matrices, focused);
  const content = { state, data, axes, layerLabel, focused, matrices, matrix, arcs, strips };
  return {
    element: el(
      "div",
      { class: `head-view ${sideBySide ? "side-by-side" : ""}` },
      lines.element,
      picture,
    ),
    status: computed(() => headStatus(content)),
    legend: computed(() =>
      data.overview(head.value, "all") ? ["   the opened head is drawn from its overview"] : [],
    ),
    tables: computed(() => headTables(content)),
    // The figure of the model view includes the panel.
    figure: () => null,
  };
}
