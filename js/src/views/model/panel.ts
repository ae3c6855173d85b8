/** The opened head: a panel as wide as the view with its lines and matrix, and a notch to its cell. */

import { computed } from "@preact/signals-core";
import type { Layer } from "../../data/layer.ts";
import { layerNumber } from "../../data/pairing.ts";
import { button, el } from "../../parts/dom.ts";
import { capitalized } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { headLens } from "../../state/lens.ts";
import { described, headName, headTitle } from "../shared/all-heads/words.ts";
import { axesOf } from "../shared/axes.ts";
import { type Reading, shownMatrix, suffixOf } from "../shared/heads/matrices.ts";
import { headContent } from "../shared/heads/words.ts";
import { headIn } from "../shared/layer-view.ts";
import { lensView } from "../shared/lenses.ts";
import { matrixView } from "../shared/matrix/matrix.ts";
import { pairs } from "../shared/pairs.ts";
import type { Context, ViewContent } from "../shared/view.ts";

export type Panel = ReturnType<typeof modelPanel>;

/** The width of the frame on both sides. */
const FRAME = 34;

interface PanelActions {
  /** Called when the height of the panel changes. */
  resized(): void;
  close(): void;
  /** Go to the head in the head view. */
  enter(): void;
}

/** @param width of the view in CSS pixels */
export function modelPanel(
  context: Context,
  width: number,
  { resized, close, enter }: PanelActions,
) {
  const { scope, state, store } = context;
  const { stack, layer, head } = state.shown;
  const title = el("div", { class: "title" });
  const named = (name: string) => ({ "aria-label": name, title: name });
  const open = "Open in head view";
  const header = el("div", { class: "panel-header" }, title);
  if (state.views.includes("head")) header.append(button(named(open), open, enter));
  header.append(button(named("Close"), "✕", close));
  const content = lensView(context, headLens, (data, inner, reading) =>
    openedHead(inner, context, data, reading, width - FRAME),
  );
  const region = el("div", { role: "region" }, header, content.element);
  region.style.width = `${width}px`;
  const notch = el("div", { class: "notch", "aria-hidden": "true" });
  const element = el("div", { class: "opened" }, region, notch);
  let height = 0;
  scope.onResize(region, () => {
    if (height === region.offsetHeight) return;
    height = region.offsetHeight;
    resized();
  });
  scope.effect(() => {
    // The title changes with the content, which waits for its layer.
    const request = store.stack(stack.value.name).layer(layer.value.number);
    if (request.value.status === "loading" && title.firstChild) return;
    const shown = { layer: layer.value, head: head.value };
    const pattern = described(store.manifest.patterns, shown);
    region.setAttribute("aria-label", `${headName(shown)}, opened`);
    title.replaceChildren(el("strong", {}, headTitle(shown)), `  ${pattern}`);
  });
  return {
    element,
    content,
    /** @param middle the position of the notch, below the middle of the cell */
    place(top: number, middle: number): void {
      element.style.top = `${top}px`;
      notch.style.left = `${middle}px`;
    },
  };
}

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

/** The lines and the matrix of the current head. */
function openedHead(
  scope: Scope,
  { state, palette }: Context,
  data: Layer,
  reading: Reading,
  width: number,
): ViewContent {
  const axes = axesOf(state, data.stack);
  const [rows, columns] = [axes.query.shown.length, axes.key.shown.length];
  const head = computed(() => headIn(state, data));
  const matrix = computed(() => shownMatrix(state, data, axes, head.value, reading));
  const matrices = computed(() => [matrix.value]);
  const layerLabel = `Layer ${layerNumber(data.info)}`;
  const content = headContent(state, { data, axes, layerLabel, matrices, matrix });
  const sideBySide = width >= SIDE_BY_SIDE_FROM;
  const longest = Math.max(rows, columns);
  // The lines beside the matrix label the rows of a short text already.
  const labelsRows = !sideBySide || (longest > SHORT && width >= ROW_LABELS_FROM);
  const fitting = ((HEIGHT - LABELS) * longest) / rows + (labelsRows ? LABELS : 0);
  const matrixWidth = Math.min(fitting, sideBySide ? (width - GAP) / 2 : width);
  // The background of the panel.
  const onPanel = computed(() => ({ ...palette.value, background: palette.value.panel }));
  const lines = pairs(scope, {
    ...content,
    palette: onPanel,
    width: sideBySide ? width - matrixWidth - GAP : width,
    height: HEIGHT,
    rowHeight: Math.max(ROW_BOUNDS[0], Math.min(ROW_BOUNDS[1], Math.floor(HEIGHT / longest))),
    horizontal: false,
  });
  const picture = matrixView(scope, {
    ...content,
    palette: onPanel,
    // The panel's header names the head.
    title: computed(() => capitalized(suffixOf(matrix.value))),
    width: matrixWidth,
    labelsRows,
  });
  const layout = `head-view ${sideBySide ? "side-by-side" : ""}`;
  return {
    element: el("div", { class: layout }, lines.element, picture),
    status: content.status,
    tables: content.tables,
    legend: computed(() =>
      data.overview(head.value, "all") ? ["   the opened head is drawn from its overview"] : [],
    ),
    // The figure of the model view includes the panel.
    figure: () => null,
  };
}
