/** The neuron view: how the query and key vectors of one head make its attention weights. */

import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals-core";
import type { LayerData } from "../../data/layer.ts";
import { disposeAll } from "../../parts/dispose.ts";
import { columnWidth } from "../../parts/text.ts";
import { rowHeight, tokenColumn, tokenFontSize } from "../../parts/tokens.ts";
import { shownTokens } from "../../shown.ts";
import type { Side, State } from "../../state.ts";
import { type Inside, layerView, notice } from "../layer-view.ts";
import type { Context, View } from "../view.ts";
import { collapsedColumns } from "./collapsed.ts";
import { expandedColumns } from "./expanded.ts";
import { neuronFacts } from "./facts.ts";
import { neuronLegend } from "./legend.ts";
import { lockBy } from "./lock.ts";
import { neuronStatus } from "./status.ts";
import { neuronTables } from "./tables.ts";
import { neuronTools } from "./tools.ts";

export function neuronView(context: Context): View {
  const { state } = context;
  // Something is always explained: the query looked at, else the locked one, else what last was.
  const explained = signal(0);
  const keep = effect(() => {
    const query = state.focus.value.query ?? state.query.value;
    if (query !== null) explained.value = query;
  });
  const tell = effect(() => {
    // Positions of one stack mean nothing in another.
    state.shown.stack.value;
    untracked(() => {
      explained.value = state.focus.value.query ?? tellingWord(state);
    });
  });
  const view = layerView(context, (data) =>
    data.info.dim === null ? noVectors(data) : inside(context, data, explained),
  );
  const [tools, disposeTools] = neuronTools(state, explained);
  return { ...view, tools, dispose: disposeAll([keep, tell, view.dispose, disposeTools]) };
}

/** The first word, or the last where words see only those before them. */
function tellingWord({ shown }: State): number {
  const { queries } = shown.stack.peek();
  const mask = shown.layer.peek().program?.mask;
  const words = queries.labels.map((_, at) => at).filter((at) => !queries.special.includes(at));
  return words.at(mask === "causal" || mask === "window" ? -1 : 0) ?? 0;
}

function noVectors({ info }: LayerData): Inside {
  // Only what was captured comes from a module of a model.
  const advice = info.fidelity.module
    ? ""
    : " attnwidget.capture records them; from_arrays takes them as queries= and keys=.";
  const message =
    "This layer was recorded as attention weights alone, without the query and key vectors " +
    `that this view explains them by.${advice}`;
  return notice(message);
}

/** Two bars and two numbers stand in a row that is split. */
const SPLIT_ROW = 28;

function inside(context: Context, data: LayerData, wanted: ReadonlySignal<number>): Inside {
  const { state, palette } = context;
  const width = context.width.value;
  const { stack } = data;
  const shown = shownTokens(state.segments.value, stack);
  const facts = neuronFacts(state, data, shown, wanted);
  const split = computed(() => facts.comparison.value !== null);
  const rows = Math.max(shown.queries.length, shown.keys.length);
  const row = Math.max(rowHeight(rows), split.value ? SPLIT_ROW : 0);
  const labels = [...stack.queries.labels, ...stack.keys.labels];
  const bounds: [number, number] = [40, Math.max(84, width * 0.1)];

  const labelWidth = columnWidth(labels, tokenFontSize(row), bounds);
  const toggle = (side: Side) => (at: number, event: MouseEvent | KeyboardEvent) =>
    lockBy(event, state, side, at, facts.explanation.peek().query);

  const [queries, disposeQueries] = tokenColumn({
    side: "query",
    tokens: stack.queries,
    state,
    rowHeight: row,
    width: labelWidth,
    positions: shown.queries,
    toggle: toggle("query"),
    emphasis: computed(() => {
      const only = new Float32Array(data.numQueries);
      only[facts.explanation.value.query] = 1;
      if (facts.comparison.value) only[facts.comparison.value.query] = 1;
      return only;
    }),
  });
  const [keys, disposeKeys] = tokenColumn({
    side: "key",
    tokens: stack.keys,
    state,
    rowHeight: row,
    width: labelWidth,
    positions: shown.keys,
    toggle: toggle("key"),
    emphasis: computed(() => null),
  });
  const columns = (state.expanded.value ? expandedColumns : collapsedColumns)({
    state,
    facts,
    palette,
    width,
    labels: labelWidth,
    rowHeight: row,
    queries,
    keys,
  });

  return {
    element: columns.element,
    status: computed(() => neuronStatus(facts)),
    tables: computed(() => neuronTables(facts)),
    legend: computed(() => neuronLegend(palette.value, facts, columns.leftOut)),
    dispose: disposeAll([disposeQueries, disposeKeys, columns.dispose]),
  };
}
