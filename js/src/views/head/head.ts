/** The head view: lines from queries to keys in the colours of the heads, and their matrix. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import type { Layer } from "../../data/layer.ts";
import { patchesOn } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { swatches } from "../../parts/swatches.ts";
import { capitalized, joined } from "../../parts/text.ts";
import { rowHeight } from "../../parts/tokens.ts";
import type { Track } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { combination } from "../../state/choices.ts";
import { attentionOf, isAttention, joinsWords, shownLens } from "../../state/lens.ts";
import type { State } from "../../state/state.ts";
import { headColors } from "../../styles/head-colors.ts";
import { shownArcs } from "../shared/arcs.ts";
import { type Axes, axesOf, focusedUnits } from "../shared/axes.ts";
import { isLong, LONG, LOWEST_ROW } from "../shared/columns.ts";
import { shownCuts } from "../shared/cuts.ts";
import { drawnMatrices } from "../shared/heads/difference.ts";
import {
  type Reading,
  shownMatrices,
  shownMatrix,
  stackMatrix,
  suffixOf,
} from "../shared/heads/matrices.ts";
import { headStatus } from "../shared/heads/status.ts";
import { headTables } from "../shared/heads/tables.ts";
import { headIn, layerView, notice } from "../shared/layer-view.ts";
import { lensNotice, numbersOf, weighting, withNumbers } from "../shared/lenses.ts";
import { matrixView } from "../shared/matrix/matrix.ts";
import { MINIMAP_WIDTH } from "../shared/minimap.ts";
import { NORMS_WIDTH, normsColumn } from "../shared/norms.ts";
import { pairs } from "../shared/pairs.ts";
import { stripsOf } from "../shared/strips.ts";
import type { Context, View, ViewContent } from "../shared/view.ts";
import { figureName } from "../shared/view.ts";
import { changesTable } from "./changes.ts";
import { jump, type ShownMatrix } from "./jump.ts";
import { headLegend } from "./legend.ts";
import { pictureContent } from "./picture/picture.ts";
import { headTools } from "./tools.ts";

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
  const lens = weighting(scope, state, store, "head");
  const tools = headTools(scope, state, store, lens.control);
  const shown = signal<ShownMatrix | null>(null);
  const links = jump(scope, state, shown);
  // A computed of its own, so that a failed answer does not cause another request.
  const allLayers = computed(() => {
    const combined = combination(state.combine.value);
    if (combined?.over !== "layers") return null;
    return { how: combined.how, loaded: store.stack(state.shown.stack.value.name).combined() };
  });
  const numbers = numbersOf(state, store, () => shownLens(state));
  const view = layerView(context, (data, inner) => {
    const maximum = combination(state.combine.value)?.how === "max";
    const absent =
      data.stack.difference && maximum
        ? notice("Maxima of A and B may be of different heads: choose A or B, or a mean.")
        : lensNotice(data, shownLens(state));
    if (absent) {
      shown.value = null;
      return absent;
    }
    const request = allLayers.value;
    if (!request) {
      return withNumbers(numbers.value?.value, (numbers) =>
        headContent(inner, context, data, shown, { lens: shownLens(state), numbers }, null),
      );
    }
    const combined = request.loaded.value;
    if (combined.status === "failed") return notice(combined.message, "alert", combined.absent);
    if (combined.status === "loading") return null;
    return headContent(
      inner,
      context,
      data,
      shown,
      { lens: shownLens(state) },
      {
        matrix: (axes) => stackMatrix(state, data.stack, combined.data, request.how, axes),
        rounding: combined.data.rounding,
        name: state.combine.value,
      },
    );
  });
  const idle = computed(() => {
    const together = combination(state.combine.value);
    const one = together !== null || shownLens(state).kind === "layers";
    return {
      layer: together?.over === "layers" ? "All layers are shown as one" : "",
      head: one ? "Several heads are shown as one" : "",
    };
  });
  const controls = [...tools, links.element];
  return { ...view, tools: controls, idle, jump: links.go, keys: { v: lens.next } };
}

/** One matrix of the heads of all layers. */
interface AllLayers {
  readonly matrix: (axes: Axes) => AttentionMatrix;
  /** The largest difference of a weight from the record's. */
  readonly rounding: number;
  /** Its part of the name of a figure's file. */
  readonly name: string;
}

/**
 * @param shown set to the matrix that is shown.
 * @param combined null to show single heads or a combination of this layer's heads.
 */
function headContent(
  scope: Scope,
  context: Context,
  data: Layer,
  shown: Signal<ShownMatrix | null>,
  reading: Reading,
  combined: AllLayers | null,
): ViewContent {
  const { state, palette, store } = context;
  const { heads, number } = data.info;
  const width = context.width.value;
  const horizontal = state.orientation.value === "horizontal";
  const { lens } = reading;
  // Shades of an image have no sign.
  const onImage = state.picture.value && !lens.signed;
  const patches = onImage ? patchesOn(store.manifest, data.stack) : null;
  const axes = axesOf(state, data.stack, joinsWords(state) && !patches);
  const focused = focusedUnits(state, axes);

  const allLayers = combined?.matrix(axes) ?? null;
  const matrices = computed(() =>
    allLayers ? [allLayers] : shownMatrices(state, data, axes, reading),
  );
  const colors = computed(() => {
    const { dark, ink } = palette.value;
    const byHead = headColors(heads, dark);
    return matrices.value.map(({ head }) => (head === null ? ink : byHead[head]));
  });
  // With single heads, the matrix is that of the current one.
  const matrix: ReadonlySignal<AttentionMatrix> = computed(() => {
    const [first] = matrices.value;
    return first.head === null
      ? first
      : shownMatrix(state, data, axes, headIn(state, data), reading);
  });
  const ofLayers = combined !== null || lens.kind === "layers";
  const layerLabel = ofLayers ? "" : `Layer ${number}`;
  const arcs = shownArcs(state, data.stack.name, axes, matrix);
  const isPlain = isAttention(lens);
  const rounding = combined?.rounding ?? (isPlain ? data.rounding : matrix.peek().largestRounding);
  const of = suffixOf(matrix.peek());
  const name = lens.label.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  const detail =
    combined?.name ??
    (ofLayers ? `${name}-${number}` : `layer-${number}${isPlain ? "" : `-${name}`}`);
  if (patches) {
    shown.value = null;
    return pictureContent(scope, context, {
      data,
      axes,
      patches,
      reading: lens.kind === "layers" ? { lens: attentionOf(state) } : reading,
      matrix,
      layerLabel,
      rounding,
      detail,
    });
  }
  shown.value = { axes, matrix };
  const title = computed(() => joined(layerLabel, matrix.value.name));

  const leastLines = LEAST_LINES + (isLong(axes) ? 2 * MINIMAP_WIDTH : 0);
  const mostMatrix = width - leastLines - GAP;
  const sideBySide = !horizontal && mostMatrix >= LEAST_MATRIX;
  const matrixWidth = sideBySide
    ? Math.min(Math.round(width * MATRIX_SHARE), mostMatrix)
    : Math.min(width, LARGEST_MATRIX);
  const cuts = shownCuts(state, axes, () => [data.info.number, headIn(state, data)]);
  const attention = { state, palette, axes, focused, cuts };
  const leftWidth = sideBySide ? width - matrixWidth - GAP : width;
  const hasRoom = leftWidth >= LEAST_LINES + NORMS_WIDTH && !horizontal && !isLong(axes);
  const inWords = axes.key.units.tokens.some(({ length }) => length > 1);
  const single = combination(state.combine.value) === null;
  const beside =
    lens.symbols && data.whole && hasRoom && single && !inWords
      ? (track: Track) =>
          normsColumn(
            scope,
            {
              head: computed(() => headIn(state, data)),
              name: lens.symbols?.[0] ?? "",
              factors: (head) => data.whole?.factors(lens, head) ?? null,
              shown: axes.key.shown,
            },
            track,
          )
      : null;
  const lines = pairs(scope, {
    ...attention,
    width: beside ? leftWidth - NORMS_WIDTH : leftWidth,
    beside,
    // A long column scrolls by itself, so the view around it should not scroll, too.
    height: isLong(axes)
      ? Math.max(LEAST_LONG, Math.min(LONG, context.height.value - SWATCHES))
      : LONG,
    rowHeight: rowHeight(Math.max(axes.query.shown.length, axes.key.shown.length), LOWEST_ROW),
    horizontal,
    ...drawnMatrices(matrices, colors, palette),
    arcs,
  });
  const picture = matrixView(scope, {
    ...attention,
    matrix,
    title,
    width: matrixWidth,
    labelsRows: true,
  });
  if (data.stack.difference) picture.append(changesTable(scope, state, axes, matrix, focused));
  const buttons = swatches(scope, state, heads, palette);
  // Not hidden: the tokens below stay in their place.
  buttons.classList.toggle("unused", ofLayers);
  const pairsWithTitles = el("div", { class: "titled" }, ...titles(state, axes), lines.element);
  const left = el("div", { class: "left" }, buttons, pairsWithTitles);
  const element = el(
    "div",
    { class: `head-view ${sideBySide ? "side-by-side" : ""}` },
    left,
    picture,
  );

  const { share } = lines;
  const strips = stripsOf(matrices, focused);
  const content = { state, data, axes, layerLabel, focused, matrices, matrix, arcs, strips };
  return {
    element,
    status: computed(() => headStatus(content)),
    legend: computed(() => headLegend(context, content, rounding, share.value)),
    tables: computed(() => headTables(content)),
    figure() {
      const [{ name, head }] = matrices.peek();
      return {
        name: figureName(store.manifest, "head", data.stack, detail),
        heading: joined(layerLabel, head === null ? name : capitalized(of)),
        note: lines.named(),
        cropped: false,
      };
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
