/** The neuron view: how the query and key vectors of one head make its attention weights. */

import {
  computed,
  type ReadonlySignal,
  type Signal,
  signal,
  untracked,
} from "@preact/signals-core";
import { DifferenceLayer, type Layer } from "../../data/layer.ts";
import type { LayerData } from "../../data/layer-data.ts";
import { el } from "../../parts/dom.ts";
import { columnWidth, joined } from "../../parts/text.ts";
import { rowHeight, tokenFontSize } from "../../parts/tokens.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { State } from "../../state/state.ts";
import { headName, headTitle } from "../shared/all-heads/words.ts";
import { onSought } from "../shared/axes.ts";
import { layerView, notice } from "../shared/layer-view.ts";
import { type Context, figureOf, type View, type ViewContent } from "../shared/view.ts";
import { neuronColumns } from "./columns.ts";
import { SPLIT_ROW } from "./layout.ts";
import { lockStrongest } from "./lock.ts";
import { analyzeQuery } from "./query-analysis.ts";
import { neuronRows } from "./rows.ts";
import { neuronTools, type Strongest } from "./tools.ts";
import { neuronLegend, neuronStatus, neuronTables } from "./words.ts";

export function neuronView(context: Context): View {
  const { scope, state } = context;
  // There is always an explained query: the focused one, else the locked one, else the last one.
  const explained = signal(0);
  scope.effect(() => {
    const query = state.focus.value.query ?? state.query.value;
    if (query !== null) explained.value = query;
  });
  scope.effect(() => {
    // Positions do not apply to another stack.
    state.shown.stack.value;
    untracked(() => {
      explained.value = state.focus.value.query ?? firstWord(state);
    });
  });
  const step = signal<Strongest | null>(null);
  const ofSide = ({ whole }: Layer, own: Scope) =>
    whole === null
      ? notice(
          "This view needs the layer's vectors, and this layer is too large to be here as a whole. " +
            "The head view shows its weights. For this view, capture a shorter text.",
        )
      : whole.info.dim === null
        ? noVectors(whole)
        : neuronContent(own, context, whole, explained, step);
  const view = layerView(context, (data, own) =>
    data instanceof DifferenceLayer
      ? oneAboveTheOther(data.sides.map((side) => ofSide(side, own)))
      : ofSide(data, own),
  );
  const tools = neuronTools(scope, state, explained, step);
  return { ...view, tools, jump: (by) => step.peek()?.go(by) };
}

/** A above B: a difference has no queries and keys of its own. */
function oneAboveTheOther(sides: readonly ViewContent[]): ViewContent {
  const [a] = sides;
  const groups = sides.map(({ element }, at) => {
    const name = "AB".charAt(at);
    return el("div", { role: "group", "aria-label": name }, el("strong", {}, name), element);
  });
  return {
    ...a,
    element: el("div", { class: "both-records" }, ...groups),
    status: computed(() =>
      sides.flatMap(({ status }, at) => [at ? "   B  " : "A  ", ...status.value]),
    ),
    tables: computed(() =>
      sides.flatMap(({ tables }, at) =>
        tables.value.map((table) => ({ ...table, name: `${table.name} of ${"AB".charAt(at)}` })),
      ),
    ),
  };
}

/** The first word; the last with a causal mask, where words see only those before them. */
function firstWord({ shown }: State): number {
  const { queries } = shown.stack.peek();
  const { program, signed } = shown.layer.peek();
  const mask = signed ? "causal" : program?.mask;
  const words = queries.labels.map((_, at) => at).filter((at) => !queries.special.includes(at));
  return words.at(mask === "causal" || mask === "window" ? -1 : 0) ?? 0;
}

function noVectors({ info }: LayerData): ViewContent {
  if (info.signed === "contributions")
    return notice(
      "This layer mixes each channel by itself, and has no queries and keys: the head view shows " +
        "its contributions.",
    );
  if (info.signed) {
    const where = info.bare ? "is in this page" : "was recorded";
    return notice(
      `This layer ${where} as coefficients alone, which the head view shows. This view needs the ` +
        "queries and keys that they follow from.",
    );
  }
  // A captured layer names its module.
  const advice = info.fidelity.module
    ? ""
    : " attnwidget.capture records them; from_arrays takes them as queries= and keys=.";
  const message =
    "This layer was recorded as attention weights alone. This view needs its query and key " +
    `vectors, too.${advice}`;
  return notice(message);
}

function neuronContent(
  scope: Scope,
  context: Context,
  data: LayerData,
  wanted: ReadonlySignal<number>,
  step: Signal<Strongest | null>,
): ViewContent {
  const { state, palette } = context;
  const width = context.width.value;
  const { stack, info } = data;
  const analysis = analyzeQuery(state, data, wanted);
  const { shown, places } = analysis;
  // A computed of its own, since any other change of what is compared leaves the rows as they are.
  const split = computed(() => analysis.comparison.value !== null);
  const longest = Math.max(shown.queries.length, shown.keys.length);
  const row = Math.max(rowHeight(longest), split.value ? SPLIT_ROW : 0);
  const locked = [places.key[state.key.peek() ?? -1], places.query[state.query.peek() ?? -1]];
  const first = locked.find((at) => at >= 0) ?? places.query[analysis.explanation.peek().query];
  // A layer with sinks has a row for them.
  const count = Math.max(shown.queries.length, shown.keys.length + (info.program?.sinks ? 1 : 0));
  const rows = neuronRows(count, row, first, context.onPaper);
  const names = [...stack.queries.labels, ...stack.keys.labels];
  const bounds: [number, number] = [40, Math.max(84, width * 0.1)];
  const options = {
    scope,
    analysis,
    rows,
    palette,
    width: width - rows.strip,
    labels: columnWidth(names, tokenFontSize(row), bounds),
  };
  const columns = neuronColumns(options, state.expanded.value);

  onSought(scope, state, ({ query, key }) => {
    const row = places.key[key ?? -1] ?? places.query[query ?? -1] ?? -1;
    if (row >= 0 && !rows.whole.value) rows.reveal(row);
  });
  const strongest: Strongest = {
    go: (by) => lockStrongest(state, analysis, rows, by),
    long: rows.long,
  };
  step.value = strongest;
  scope.onEnd(() => {
    if (step.peek() === strongest) step.value = null;
  });

  return {
    element: columns.element,
    status: computed(() => neuronStatus(analysis)),
    tables: computed(() => neuronTables(analysis)),
    legend: computed(() => neuronLegend(palette.value, analysis, columns.leftOut)),
    figure() {
      const shown = { layer: info, head: analysis.head.peek() };
      const [begin, end] = rows.sight.peek();
      const { manifest } = context.store;
      const inSight = rows.long ? `rows ${begin}–${end - 1} of ${rows.count}` : "";
      return figureOf(manifest, "neuron", stack, {
        of: headName(shown).replace("Layer", "layer"),
        heading: headTitle(shown),
        note: joined(inSight, manifest.model),
        // Only the visible rows are rendered.
        cropped: rows.long,
      });
    },
  };
}
