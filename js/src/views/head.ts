/** The head view: lines from queries to keys in the colours of the heads, and one head's matrix. */

import { computed } from "@preact/signals-core";
import type { LayerData } from "../data/layer.ts";
import type { StackInfo } from "../data/manifest.ts";
import { disposeAll } from "../parts/dispose.ts";
import { el } from "../parts/dom.ts";
import { swatches } from "../parts/swatches.ts";
import { columnWidth, type Phrase, roundedUp } from "../parts/text.ts";
import { rowHeight, tokenColumn, tokenFontSize } from "../parts/tokens.ts";
import { halfPrecision, keptAsWeights } from "../parts/trust.ts";
import { activeHeads, shownTokens, visible } from "../state.ts";
import { headStatus } from "./head-status.ts";
import { type Inside, layerView } from "./layer-view.ts";
import { lines } from "./lines.ts";
import { matrix } from "./matrix.ts";
import type { Context, View } from "./view.ts";

/** Below this width there is no room for the matrix beside the lines. */
const MATRIX_FROM = 740;

export function headView(context: Context): View {
  return layerView(context, (data) => inside(context, data));
}

function inside(context: Context, data: LayerData): Inside {
  const { state, store } = context;
  const width = context.width.value;
  const { stack } = data;
  const shown = shownTokens(state.segments.value, stack);
  const row = rowHeight(Math.max(shown.queries.length, shown.keys.length));
  const active = computed(() => activeHeads(state, data.info.heads));

  const focus = computed(() => visible(state.focus.value, shown));

  /** Weights per active head of the row or column looked at. */
  const strips = computed(() => {
    const { query, key } = focus.value;
    if (query !== null) return active.value.map((head) => data.weightRow(head, query));
    if (key !== null) return active.value.map((head) => data.weightColumn(head, key));
    return null;
  });
  const most = computed(() => strips.value && maxima(strips.value));
  const emphasis = (side: "query" | "key") =>
    computed(() => {
      const { query } = focus.value;
      if (!most.value) return null;
      if ((side === "key") === (query !== null)) return most.value;
      const own = new Float32Array(side === "query" ? data.numQueries : data.numKeys);
      const at = focus.value[side];
      if (at !== null) own[at] = 1;
      return own;
    });

  const [queries, disposeQueries] = tokenColumn({
    side: "query",
    tokens: stack.queries,
    state,
    rowHeight: row,
    positions: shown.queries,
    emphasis: emphasis("query"),
    place: (query) => ({ query, key: null }),
  });
  const [keys, disposeKeys] = tokenColumn({
    side: "key",
    tokens: stack.keys,
    state,
    rowHeight: row,
    positions: shown.keys,
    emphasis: emphasis("key"),
    place: (key) => ({ query: null, key }),
  });
  const beside = width >= MATRIX_FROM;
  const matrixWidth = beside ? Math.min(Math.round(width * 0.44), width - 480) : 0;
  const drawn = lines(data, { shown, rowHeight: row, active, focus, strips });
  const picture = beside ? matrix(context, data, { shown, focus, width: matrixWidth }) : null;
  const [buttons, disposeButtons] = swatches(state, data.info.heads);

  const columns = el("div", { class: "columns" }, queries, drawn.element, keys);
  const bounds: [number, number] = [56, Math.max(72, Math.min(180, width * 0.18))];
  const side = (labels: readonly string[]) =>
    `${columnWidth(labels, tokenFontSize(row), bounds)}px`;
  columns.style.gridTemplateColumns = `${side(stack.queries.labels)} minmax(120px, 520px) ${side(stack.keys.labels)}`;
  const left = el("div", { class: "pairs" }, buttons, columns);
  const element = el("div", { class: "head-view" }, left);
  if (picture) element.append(picture.element);

  return {
    element,
    status: computed(() => headStatus(state, data, focus.value, shown, active.value, strips.value)),
    legend: computed(() => legendOf(store.manifest.model, data, drawn.share.value)),
    dispose: disposeAll([
      disposeQueries,
      disposeKeys,
      disposeButtons,
      drawn.dispose,
      () => picture?.dispose(),
    ]),
  };
}

function legendOf(model: string, data: LayerData, share: number): Phrase {
  const { numQueries, numKeys, stack } = data;
  const parts = [
    // Rounded down: "100%" is said only of everything.
    share < 100 ? `${Math.floor(share * 10) / 10}% of attention shown` : "",
    keptAsWeights([data.info]),
    `numbers exact to ±${roundedUp(data.info.rounding)}`,
    halfPrecision(data.info),
    model,
    `${numQueries === numKeys ? numKeys : `${numQueries} × ${numKeys}`} tokens`,
    `${stack.layers.length} layers × ${headCount(stack)} heads`,
  ];
  return [parts.filter(Boolean).join(" · ")];
}

/** "12", or "8–12" where layers differ. */
function headCount({ layers }: StackInfo): string {
  const counts = layers.map(({ heads }) => heads);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? `${most}` : `${least}–${most}`;
}

function maxima(rows: readonly Float32Array[]): Float32Array {
  const out = new Float32Array(rows[0].length);
  for (const row of rows)
    row.forEach((value, i) => {
      if (value > out[i]) out[i] = value;
    });
  return out;
}
