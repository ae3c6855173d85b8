/** The map: every head as a point, placed by two metrics, or by similarity. */

import { batch, computed, signal, untracked } from "@preact/signals-core";
import { headsAlone } from "../../data/manifest.ts";
import { choice, type Option, toggle } from "../../parts/choice.ts";
import { el, replaceContent } from "../../parts/dom.ts";
import { capitalized, counted, hint } from "../../parts/text.ts";
import { NO_SIZE, SIMILARITY } from "../../state/choices.ts";
import { sameHead } from "../shared/all-heads/heads.ts";
import { described, headStatus } from "../shared/all-heads/words.ts";
import { colorMenu, metricOptions, shownAs } from "../shared/tools.ts";
import type { Context, View } from "../shared/view.ts";
import { legendLine } from "../shared/words.ts";
import { type MapHeads, mapHeads } from "./heads.ts";
import { mapStage } from "./stage.ts";

export function mapView(context: Context): View {
  const { scope, state, store } = context;
  const { manifest } = store;
  const alone = headsAlone(manifest);
  const map = mapHeads(context);
  const { heads, placing, inUse, hovered, current, focused, marked } = map;

  scope.effect(() => {
    state.shown.stack.value;
    // Heads of another stack.
    batch(() => {
      hovered.value = null;
      marked.value = null;
    });
  });
  const element = el("div", { class: "map-view" });
  scope.scopedEffect((own) => {
    const [width, height] = [context.width.value, context.height.value];
    if (width <= 0) return;
    const stage = mapStage({ ...context, scope: own }, map, width, height);
    untracked(() => replaceContent(element, stage));
  });

  return {
    ...map.view,
    element,
    tools: mapTools(context, map),
    finds: signal("heads"),
    keys: {
      r() {
        if (placing.peek().nullLabel) state.nullShown.value = !state.nullShown.peek();
      },
    },
    status: computed(() => {
      const outside = map.outsideOf(focused.value);
      const isChosen = sameHead(focused.value, current.value);
      const { metrics } = state.shown;
      const words = described(manifest.patterns, focused.value, metrics.value);
      return headStatus(focused.value, words, inUse.value, [
        outside && ` (${outside})`,
        hint(isChosen ? (alone ? "" : " · Enter opens") : " · a click or Enter chooses"),
      ]);
    }),
    legend: computed(() => {
      const missing = heads.value.filter((head) => !placing.value.placeOf(head)).length;
      const remarks = [
        marked.value && `${counted(marked.value.size, "head")} marked, Esc releases them`,
        ...map.remarks.value,
        missing ? `${missing} ${missing > 1 ? "heads have" : "head has"} no value` : "",
        map.outsideCounts(),
      ];
      return legendLine(map.coloring.value.legend, remarks, "   ");
    }),
    tables: computed(() => [map.table.value]),
  };
}

function mapTools(
  { scope, state }: Context,
  { placing, size, similarity }: MapHeads,
): HTMLElement[] {
  const metrics = () => metricOptions(state.shown.metrics.value);
  const bySimilarity = (): readonly Option[] =>
    similarity.value
      ? [{ value: SIMILARITY, label: "Similarity (MDS)", title: similarity.value.label }]
      : [];
  const places = () => [...metrics(), ...bySimilarity()];
  const sizes = () => [{ value: NO_SIZE, label: "Equal" }, ...metrics()];
  // Another metric may stand in for one that the stack does not have.
  const x = shownAs(state.map_x, () => placing.value.axes?.[0].name ?? SIMILARITY);
  const y = shownAs(state.map_y, () => placing.value.axes?.[1].name ?? "");
  const across = choice(scope, "x", places, x);
  const placeBy = choice(scope, "Place by", places, x);
  const up = choice(scope, "y", metrics, y);
  const named = shownAs(state.map_size, () => size.value?.name ?? NO_SIZE);
  const bySize = choice(scope, "Size", sizes, named);
  const random = toggle(scope, "", "Show the heads of the null (r)", state.nullShown);
  scope.effect(() => {
    const { axes, nullLabel } = placing.value;
    across.hidden = up.hidden = !axes;
    placeBy.hidden = axes !== null;
    random.hidden = nullLabel === null;
    random.textContent = capitalized(nullLabel ?? "");
  });
  return [across, placeBy, up, colorMenu(scope, state), bySize, random];
}
