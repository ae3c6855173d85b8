/** The head view: lines from queries to keys in the colours of the heads, and their matrix. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { LayerData } from "../../data/layer.ts";
import type { Sheet } from "../../data/sheets.ts";
import { disposeAll } from "../../parts/dispose.ts";
import { el } from "../../parts/dom.ts";
import { headColors } from "../../parts/head-colors.ts";
import { swatches } from "../../parts/swatches.ts";
import { rowHeight } from "../../parts/tokens.ts";
import { axesOf, lookOf } from "../axes.ts";
import { headIn, type Inside, layerView, notice } from "../layer-view.ts";
import { matrix } from "../matrix.ts";
import { pairs } from "../pairs.ts";
import type { Context, View } from "../view.ts";
import { headLegend } from "./legend.ts";
import { layerSheets, sheetOf, showsStack, stackSheet } from "./sheets.ts";
import { headStatus } from "./status.ts";
import { headTables } from "./tables.ts";
import { headTools } from "./tools.ts";

/** From this width on, the matrix stands beside the lines. */
const BESIDE_FROM = 740;
const BESIDE = 0.44;
const LINES_NEED = 448;
/** From this width on, a matrix that stands beside the lines has room for the names of its rows. */
const NAMED_FROM = 1100;
const GAP = 32;
const LARGEST_MATRIX = 620;

export function headView(context: Context): View {
  const { state, store } = context;
  const [tools, disposeTools] = headTools(state);
  // Apart from its answer: one that it failed must not be a reason to ask again.
  const wanted = computed(() =>
    showsStack(state) ? store.combined(state.shown.stack.value.name) : null,
  );
  const view = layerView(context, (data) => {
    const combined = wanted.value?.value;
    if (!combined) return inside(context, data, null);
    if (combined.status === "failed") return notice(combined.message, "alert");
    if (combined.status === "loading") return null;
    const heads = data.stack.layers.reduce((sum, layer) => sum + layer.heads, 0);
    return inside(context, data, (axes) => stackSheet(state, combined.data, heads, axes));
  });
  return { ...view, tools, dispose: disposeAll([view.dispose, disposeTools]) };
}

/** @param whole makes the one sheet of all layers, where they are shown as one. */
function inside(
  context: Context,
  data: LayerData,
  whole: ((axes: ReturnType<typeof axesOf>) => Sheet) | null,
): Inside {
  const { state, palette } = context;
  const { heads, number } = data.info;
  const width = context.width.value;
  const horizontal = state.orientation.value === "horizontal";
  const axes = axesOf(state, data.stack);
  const look = lookOf(state, axes);
  const row = rowHeight(Math.max(axes.query.shown.length, axes.key.shown.length));

  const all = whole?.(axes) ?? null;
  const sheets = computed(() => (all ? [all] : layerSheets(state, data, axes)));
  const colors = computed(() => {
    const { dark, ink } = palette.value;
    const own = headColors(heads, dark);
    return sheets.value.map(({ head }) => (head === null ? ink : own[head]));
  });
  // Of single heads, the matrix is that of the current one.
  const pictured: ReadonlySignal<Sheet> = computed(() => {
    const [first] = sheets.value;
    return first.head === null ? first : sheetOf(state, data, axes, headIn(state, data));
  });
  const where = all ? "" : `Layer ${number}`;
  const title = computed(() => [where, pictured.value.name].filter(Boolean).join(" · "));

  const beside = !horizontal && width >= BESIDE_FROM;
  const matrixWidth = beside
    ? Math.min(Math.round(width * BESIDE), width - LINES_NEED - GAP)
    : Math.min(width, LARGEST_MATRIX);
  const drawn = pairs({
    state,
    axes,
    width: beside ? width - matrixWidth - GAP : width,
    rowHeight: row,
    horizontal,
    sheets,
    colors,
    look,
  });
  const picture = matrix({
    state,
    palette,
    axes,
    sheet: pictured,
    title,
    look,
    width: matrixWidth,
    namesRows: !beside || width >= NAMED_FROM,
  });
  const [buttons, disposeButtons] = swatches(state, heads, palette);
  buttons.hidden = all !== null;
  const left = el("div", { class: "left" }, buttons, drawn.element);
  const element = el(
    "div",
    { class: `head-view ${beside ? "beside" : ""}` },
    left,
    picture.element,
  );

  const seen = { state, data, axes, where, look, sheets, pictured, strips: drawn.strips };
  return {
    element,
    status: computed(() => headStatus(seen)),
    legend: computed(() => headLegend(context, seen, drawn.share.value)),
    tables: computed(() => headTables(seen)),
    dispose: disposeAll([disposeButtons, drawn.dispose, picture.dispose]),
  };
}
