/** The head view: lines from queries to keys in the colours of the heads, and their matrix. */

import { computed, signal } from "@preact/signals-core";
import { patchesOn } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { swatches } from "../../parts/swatches.ts";
import { capitalized, joined } from "../../parts/text.ts";
import { rowHeight } from "../../parts/tokens.ts";
import type { Track } from "../../parts/track.ts";
import { combination } from "../../state/choices.ts";
import { joinsWords, shownLens } from "../../state/lens.ts";
import type { State } from "../../state/state.ts";
import { type Axes, axesOf } from "../shared/axes.ts";
import { isLong, LONG, LOWEST_ROW, MINIMAP_WIDTH } from "../shared/columns.ts";
import { suffixOf } from "../shared/heads/matrices.ts";
import type { HeadContent } from "../shared/heads/words.ts";
import { notice } from "../shared/layer-view.ts";
import { lensView } from "../shared/lenses.ts";
import { matrixView } from "../shared/matrix/matrix.ts";
import { pairs } from "../shared/pairs.ts";
import { weighting } from "../shared/tools.ts";
import { type Context, figureOf, type View, type ViewContent } from "../shared/view.ts";
import { changesTable } from "./changes.ts";
import { jump } from "./jump.ts";
import { headLegend } from "./legend.ts";
import { NORMS_WIDTH, normsColumn } from "./norms.ts";
import { pictureContent } from "./picture/picture.ts";
import { type ShownHeads, shownHeads } from "./shown.ts";
import { combinationLack, headTools } from "./tools.ts";

/** The matrix's share of the width and its least width in CSS pixels, beside the lines. */
const MATRIX_SHARE = 0.44;
const LEAST_MATRIX = 218;
const LARGEST_MATRIX = 620;
/** The least width of the lines with their columns, beside the matrix, without minimaps. */
const LEAST_LINES = 290;
const GAP = 32;
/** The height of a row of swatches with its margin, and the least height of a long column. */
const SWATCHES = 40;
const LEAST_LONG = 320;

export function headView(context: Context): View {
  const { scope, state, store } = context;
  const lens = weighting(scope, state, store);
  const tools = headTools(scope, state, store, lens.control);
  /** What is searched for the strongest links. */
  const searched = signal<HeadContent | null>(null);
  const links = jump(scope, state, searched);
  const together = computed(() => combination(state.combine.value));
  // A computed of its own, so that a failed answer does not cause another request.
  const allLayers = computed(() =>
    together.value?.over === "layers" && !state.shown.stack.value.layers[0].signed
      ? store.stack(state.shown.stack.value.name).combined()
      : null,
  );
  const view = lensView(context, shownLens, (data, inner, reading) => {
    const lack = combinationLack(data.stack, state.combine.value);
    if (lack) return notice(lack.sentence);
    const loaded = allLayers.value?.value;
    if (loaded?.status === "failed") return notice(loaded.message, "alert", loaded.absent);
    if (loaded?.status === "loading") return null;
    const here = { ...context, scope: inner };
    // Shades of an image have no sign.
    const onImage = state.picture.value && !reading.lens.signed;
    const grids = onImage ? patchesOn(store.manifest, data.stack, state.grid.value) : null;
    const axes = axesOf(state, data.stack, joinsWords(state) && !grids);
    const shown = shownHeads(state, data, axes, reading, loaded?.data, grids !== null);
    if (grids) return pictureContent(here, shown, grids);
    searched.value = shown;
    inner.onEnd(() => {
      if (searched.peek() === shown) searched.value = null;
    });
    return linesAndMatrix(here, shown);
  });
  const idle = computed(() => {
    const one = together.value !== null || shownLens(state).kind === "layers";
    return {
      layer: together.value?.over === "layers" ? "All layers are shown as one" : "",
      head: one ? "Several heads are shown as one" : "",
    };
  });
  const controls = [...tools, links.element];
  return { ...view, tools: controls, idle, jump: links.go, keys: { v: lens.next } };
}

/** The lines from queries to keys, and the matrix beside or below them. */
function linesAndMatrix(context: Context, content: ShownHeads): ViewContent {
  const { scope, state, palette, store } = context;
  const { data, axes, matrices, matrix, layerLabel } = content;
  const { lens } = content.reading;
  const width = context.width.value;
  const horizontal = state.orientation.value === "horizontal";
  const long = isLong(axes);
  const leastLines = LEAST_LINES + (long ? 2 * MINIMAP_WIDTH : 0);
  const mostMatrix = width - leastLines - GAP;
  const sideBySide = !horizontal && mostMatrix >= LEAST_MATRIX;
  const matrixWidth = sideBySide
    ? Math.min(Math.round(width * MATRIX_SHARE), mostMatrix)
    : Math.min(width, LARGEST_MATRIX);
  const leftWidth = sideBySide ? width - matrixWidth - GAP : width;
  const hasRoom = leftWidth >= LEAST_LINES + NORMS_WIDTH && !horizontal && !long;
  const inWords = axes.key.units.tokens.some(({ length }) => length > 1);
  const single = state.combine.value === "none";
  const withNorms = lens.symbols && data.whole && hasRoom && single && !inWords;
  const norms = (track: Track) => normsColumn(scope, track, content);
  const lines = pairs(scope, {
    ...content,
    palette,
    width: withNorms ? leftWidth - NORMS_WIDTH : leftWidth,
    beside: withNorms ? norms : null,
    // A long column scrolls by itself, so the view around it should not scroll, too.
    height: long ? Math.max(LEAST_LONG, Math.min(LONG, context.height.value - SWATCHES)) : LONG,
    rowHeight: rowHeight(Math.max(axes.query.shown.length, axes.key.shown.length), LOWEST_ROW),
    horizontal,
  });
  const picture = matrixView(scope, {
    ...content,
    palette,
    title: computed(() => joined(layerLabel, matrix.value.name)),
    width: matrixWidth,
    labelsRows: true,
  });
  if (data.stack.difference) picture.append(changesTable(scope, content));
  const buttons = swatches(scope, state, data.info.heads, palette);
  // Not hidden: the tokens below stay in their place.
  buttons.classList.toggle("unused", content.ofLayers);
  const pairsWithTitles = el("div", { class: "titled" }, ...titles(state, axes), lines.element);
  const left = el("div", { class: "left" }, buttons, pairsWithTitles);
  const layout = `head-view ${sideBySide ? "side-by-side" : ""}`;
  const numbers = capitalized(suffixOf(matrix.peek()));
  return {
    element: el("div", { class: layout }, left, picture),
    status: content.status,
    legend: computed(() => headLegend(context, content, lines.share.value)),
    tables: content.tables,
    figure() {
      const [{ name, head }] = matrices.peek();
      const heading = joined(layerLabel, head === null ? name : numbers);
      const note = lines.named();
      return figureOf(store.manifest, "head", data.stack, { of: content.detail, heading, note });
    },
  };
}

/** The headings of the two columns, if they are of different texts. */
function titles(state: State, axes: Axes): readonly HTMLElement[] {
  if (!state.shown.texts.value) return [];
  const horizontal = state.orientation.value === "horizontal";
  const [query, key] = [axes.query.title, axes.key.title].map(capitalized);
  const texts = horizontal ? [`${query} above`, `${key} below`] : [query, key];
  return [el("div", { class: "titles" }, ...texts.map((text) => el("span", {}, text)))];
}
