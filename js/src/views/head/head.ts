/** The head view: lines from queries to keys in the colours of the heads, and their matrix. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import type { Layer } from "../../data/layer.ts";
import { el } from "../../parts/dom.ts";
import { swatches } from "../../parts/swatches.ts";
import { rowHeight } from "../../parts/tokens.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Choices } from "../../state/choices.ts";
import { headColors } from "../../styles/head-colors.ts";
import { axesOf, lookOf } from "../shared/axes.ts";
import { LONG } from "../shared/columns.ts";
import { figureName } from "../shared/figure.ts";
import { shownMatrices, shownMatrix, showsStack, stackMatrix } from "../shared/heads/matrices.ts";
import { headStatus } from "../shared/heads/status.ts";
import { headTables } from "../shared/heads/tables.ts";
import { headIn, type Inside, layerView, notice } from "../shared/layer-view.ts";
import { matrixView } from "../shared/matrix/matrix.ts";
import { pairs } from "../shared/pairs.ts";
import type { Context, View } from "../shared/view.ts";
import { jump, type Pictured } from "./jump.ts";
import { headLegend } from "./legend.ts";
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
  const { scope, state, store } = context;
  const tools = headTools(scope, state);
  const shown = signal<Pictured | null>(null);
  const links = jump(scope, state, shown);
  // Apart from its answer: one that it failed must not be a reason to ask again.
  const wanted = computed(() =>
    showsStack(state) ? store.combined(state.shown.stack.value.name) : null,
  );
  const view = layerView(context, (data, own) => {
    const combined = wanted.value?.value;
    if (!combined) return inside(own, context, data, shown, null);
    if (combined.status === "failed") return notice(combined.message, "alert", combined.absent);
    if (combined.status === "loading") return null;
    const heads = data.stack.layers.reduce((sum, layer) => sum + layer.heads, 0);
    return inside(own, context, data, shown, {
      matrix: (axes) => stackMatrix(state, combined.data, heads, axes),
      rounding: combined.data.rounding,
      combine: state.combine.value,
    });
  });
  return {
    ...view,
    tools: [...tools, links.element],
    jump: links.go,
  };
}

/** The one matrix of all layers, where they are shown as one. */
interface Whole {
  readonly matrix: (axes: ReturnType<typeof axesOf>) => AttentionMatrix;
  /** The largest difference of a weight from the record's. */
  readonly rounding: number;
  readonly combine: Choices["combine"];
}

/** @param shown is told which matrix is pictured. */
function inside(
  scope: Scope,
  context: Context,
  data: Layer,
  shown: Signal<Pictured | null>,
  whole: Whole | null,
): Inside {
  const { state, palette, store } = context;
  const { heads, number } = data.info;
  const width = context.width.value;
  const horizontal = state.orientation.value === "horizontal";
  const axes = axesOf(state, data.stack);
  const look = lookOf(state, axes);
  const row = rowHeight(Math.max(axes.query.shown.length, axes.key.shown.length));

  const all = whole?.matrix(axes) ?? null;
  const matrices = computed(() => (all ? [all] : shownMatrices(state, data, axes)));
  const colors = computed(() => {
    const { dark, ink } = palette.value;
    const own = headColors(heads, dark);
    return matrices.value.map(({ head }) => (head === null ? ink : own[head]));
  });
  // Of single heads, the matrix is that of the current one.
  const pictured: ReadonlySignal<AttentionMatrix> = computed(() => {
    const [first] = matrices.value;
    return first.head === null ? first : shownMatrix(state, data, axes, headIn(state, data));
  });
  shown.value = { axes, matrix: pictured };
  const where = all ? "" : `Layer ${number}`;
  const title = computed(() => [where, pictured.value.name].filter(Boolean).join(" · "));

  const beside = !horizontal && width >= BESIDE_FROM;
  const matrixWidth = beside
    ? Math.min(Math.round(width * BESIDE), width - LINES_NEED - GAP)
    : Math.min(width, LARGEST_MATRIX);
  const drawn = pairs(scope, {
    state,
    palette,
    axes,
    width: beside ? width - matrixWidth - GAP : width,
    height: LONG,
    rowHeight: row,
    horizontal,
    matrices,
    colors,
    look,
  });
  const picture = matrixView(scope, {
    state,
    palette,
    axes,
    matrix: pictured,
    title,
    look,
    width: matrixWidth,
    namesRows: !beside || width >= NAMED_FROM,
  });
  const buttons = swatches(scope, state, heads, palette);
  buttons.hidden = all !== null;
  const left = el("div", { class: "left" }, buttons, drawn.element);
  const element = el("div", { class: `head-view ${beside ? "beside" : ""}` }, left, picture);

  const rounding = (whole ?? data).rounding;
  const seen = { state, data, axes, where, look, matrices, pictured, strips: drawn.strips };
  return {
    element,
    status: computed(() => headStatus(seen)),
    legend: computed(() => headLegend(context, seen, rounding, drawn.share.value)),
    tables: computed(() => headTables(seen)),
    figure() {
      const [{ name, head }] = matrices.peek();
      return {
        name: figureName(store.manifest, "head", data.stack, whole?.combine ?? `layer-${number}`),
        heading: [where, head === null ? name : ""].filter(Boolean).join(" · "),
        note: drawn.named(),
        cropped: false,
      };
    },
  };
}
