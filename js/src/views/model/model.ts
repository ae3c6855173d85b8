/** The model view: a thumbnail of every head of every layer, or a ranking of all heads. */

import { computed, untracked } from "@preact/signals-core";
import { choice, toggle } from "../../parts/choice.ts";
import { button, el, replaceContent } from "../../parts/dom.ts";
import { keptAsWeights } from "../../parts/fidelity.ts";
import { capitalized } from "../../parts/text.ts";
import { PAIR } from "../../state/choices.ts";
import { described, headStatus, ordered } from "../shared/all-heads/words.ts";
import { colorMenu, headsMenu, shownAs, weighting } from "../shared/tools.ts";
import type { Context, View } from "../shared/view.ts";
import { legendLine } from "../shared/words.ts";
import { modelHeads } from "./heads.ts";
import { ranking } from "./ranking.ts";
import { gridStage } from "./stage.ts";

const ORDERS = [{ value: "model", label: "As in model" }];

const THUMBNAILS = [
  { value: "matrix", label: "Matrix" },
  { value: "lines", label: "Lines" },
];

export function modelView(context: Context): View {
  const { scope, state, store } = context;
  const { manifest } = store;
  const { metrics } = state.shown;
  const heads = modelHeads(context);
  const { rows, pair, metric, pictures, images, panel, hovered, focused } = heads;
  const lens = weighting(scope, state, store);
  const shown = shownAs(state.thumbnails, () => {
    const { value } = state.thumbnails;
    return value === "image" && !images.shown.value ? "matrix" : value;
  });
  const tools = [
    colorMenu(scope, state),
    headsMenu(scope, state, "Sort heads", ORDERS, state.sort),
    choice(scope, "Show", () => [...THUMBNAILS, ...images.option.value], shown),
    lens.control,
    toggle(scope, "Ranking", "List the heads of all layers by their numbers", state.ranking),
  ];
  const element = el("div", { class: "model-view" });
  scope.scopedEffect((own) => {
    const width = context.width.value;
    if (width <= 0) return;
    const here = { ...context, scope: own };
    // A list by other numbers would be taken for that of the pair.
    const list = () =>
      state.sort.value === PAIR && !pair.value.metric ? noList() : ranking(here, heads, width);
    const content = state.ranking.value ? list() : gridStage(here, heads, width);
    untracked(() => {
      hovered.value = null;
      replaceContent(element, content);
      // The grid may have been scrolled to the current head, and the focus scrolls to its row.
      if (state.ranking.value) queueMicrotask(() => element.closest(".body")?.scrollTo(0, 0));
    });
  });

  /** The reason why there is no list by the pair, and a button for another list. */
  function noList(): HTMLElement {
    const [{ name, label }] = metrics.value;
    const other = button({ class: "control" }, `Rank by ${label}`, () => {
      state.sort.value = name;
    });
    return el("div", { class: "notice" }, el("p", {}, capitalized(pair.value.remark)), other);
  }

  return {
    ...heads.view,
    element,
    status: computed(() => {
      // The status of the opened head while a token in it is hovered.
      if (panel.value && state.hover.value) return panel.value.content.status.value;
      const words = described(manifest.patterns, focused.value, metrics.value);
      return headStatus(focused.value, words, ordered(metric.value, metrics.value));
    }),
    legend: computed(() => {
      const remarks = [
        keptAsWeights(rows.value.map(({ layer }) => layer)),
        images.remark.value,
        images.shown.value ? "" : pictures.remark.value,
        ...heads.remarks.value,
      ];
      const { legend } = heads.coloring.value;
      // What the images show comes first: the counts of patterns are long.
      const colors = images.shown.value
        ? [`${images.legend.value}   `, ...legend]
        : [...legend, ...pictures.scale.value];
      return [...legendLine(colors, remarks, "   "), ...(panel.value?.content.legend.value ?? [])];
    }),
    tools,
    keys: { v: lens.next },
    // Thumbnails show no tokens.
    finds: computed(() => (panel.value ? "tokens" : null)),
    tables: computed(() => {
      const ofPanel = panel.value?.content.tables.value ?? [];
      return [heads.table.value, ...ofPanel];
    }),
  };
}
