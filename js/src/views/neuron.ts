/** The neuron view: how the query and key vectors of one head make its attention weights. */

import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals-core";
import type { LayerData } from "../data/layer.ts";
import { disposeAll } from "../parts/dispose.ts";
import { el, sizeCanvas } from "../parts/dom.ts";
import { colored, columnWidth, number, type Phrase, scaling } from "../parts/text.ts";
import { rowHeight, tokenColumn, tokenFontSize } from "../parts/tokens.ts";
import { keptAsWeights } from "../parts/trust.ts";
import { type State, shownTokens, toggleLock, visible } from "../state.ts";
import { headIn, type Inside, layerView } from "./layer-view.ts";
import { type Layout, layoutFor, NUMBER_WIDTH } from "./neuron-layout.ts";
import { type Explanation, paintNeurons, productScale, vectorScale } from "./neuron-paint.ts";
import { neuronStatus } from "./neuron-status.ts";
import type { Context, View } from "./view.ts";

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
  return { ...view, dispose: disposeAll([keep, tell, view.dispose]) };
}

/** The first word, or the last where words see only those before them. */
function tellingWord({ shown }: State): number {
  const { queries } = shown.stack.peek();
  const mask = shown.layer.peek().program?.mask;
  const words = queries.labels.map((_, at) => at).filter((at) => !queries.special.includes(at));
  return words.at(mask === "causal" || mask === "window" ? -1 : 0) ?? 0;
}

function noVectors({ info }: LayerData): Inside {
  const nothing = computed<Phrase>(() => []);
  // Only what was captured comes from a module of a model.
  const advice = info.fidelity.module
    ? ""
    : " attnwidget.capture records them; from_arrays takes them as queries= and keys=.";
  const message =
    "This layer was recorded as attention weights alone, without the query and key vectors " +
    `that this view explains them by.${advice}`;
  return {
    element: el("p", { class: "notice" }, message),
    status: nothing,
    legend: nothing,
    dispose() {},
  };
}

/** Below this width the view scrolls sideways. */
const NARROWEST = 540;

function inside(context: Context, data: LayerData, wanted: ReadonlySignal<number>): Inside {
  const { state } = context;
  const width = Math.max(context.width.value, NARROWEST);
  const { stack } = data;
  const shown = shownTokens(state.segments.value, stack);
  const row = rowHeight(Math.max(shown.queries.length, shown.keys.length));
  const labels = [...stack.queries.labels, ...stack.keys.labels];
  const layout = layoutFor(
    width,
    columnWidth(labels, tokenFontSize(row), [40, Math.max(84, width * 0.1)]),
  );

  // The segments shown may leave it out.
  const query = computed(() =>
    shown.queries.includes(wanted.value) ? wanted.value : shown.queries[0],
  );
  const head = computed(() => headIn(state, data));
  const explanation = computed<Explanation>(() => {
    const at = query.value;
    return {
      query: at,
      scores: data.scoreRow(head.value, at),
      weights: data.weightRow(head.value, at),
    };
  });
  const vector = computed(() => vectorScale(data, head.value, shown));
  const product = computed(() => productScale(data, head.value, query.value, shown.keys));

  const focus = computed(() => visible(state.focus.value, shown));
  // A key is looked at for the query that is explained, so that one stays.
  const lockKey = (at: number) => ({ query: state.query.peek(), key: at });

  const [queries, disposeQueries] = tokenColumn({
    side: "query",
    tokens: stack.queries,
    state,
    rowHeight: row,
    positions: shown.queries,
    place: (at) => ({ query: at, key: state.key.peek() }),
    emphasis: computed(() => {
      const only = new Float32Array(data.numQueries);
      only[query.value] = 1;
      return only;
    }),
  });
  const [keys, disposeKeys] = tokenColumn({
    side: "key",
    tokens: stack.keys,
    state,
    rowHeight: row,
    positions: shown.keys,
    place: lockKey,
    emphasis: computed(() => null),
  });
  const height = row * Math.max(shown.queries.length, shown.keys.length);
  const canvas = el("canvas", { "aria-hidden": "true" });
  const stage = el("div", { class: "neurons" }, canvas, queries, keys);
  place(queries, 0, layout.labels);
  place(keys, layout.keyLabels, layout.labels);
  stage.style.height = `${height}px`;
  const heads = el("div", { class: "column-heads" });
  const element = el("div", { class: "neuron-view" }, heads, stage);

  const disposeHeads = effect(() => nameColumns(heads, layout, data, head.value));
  const disposePaint = effect(() => {
    paintNeurons(sizeCanvas(canvas, width, height), {
      data,
      head: head.value,
      shown,
      layout,
      rowHeight: row,
      palette: context.palette.value,
      explanation: explanation.value,
      focusKey: focus.value.key,
      scales: { vector: vector.value, product: product.value },
    });
  });

  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, index] = [event.clientX - box.left, Math.floor((event.clientY - box.top) / row)];
    if (x < layout.keyLabels) {
      const at = shown.queries[index];
      state.hover.value = at === undefined ? null : { query: at, key: null };
    } else {
      const at = shown.keys[index];
      state.hover.value = at === undefined ? null : { query: null, key: at };
    }
  });
  canvas.addEventListener("pointerleave", () => {
    state.hover.value = null;
  });
  canvas.addEventListener("click", (event) => {
    const index = Math.floor(event.offsetY / row);
    const [query, key] = [shown.queries[index], shown.keys[index]];
    if (event.offsetX < layout.keyLabels) {
      if (query !== undefined) toggleLock(state, { query, key: state.key.peek() });
    } else if (key !== undefined) toggleLock(state, lockKey(key));
  });

  const strongestOf = (keys: readonly number[]) => {
    const { weights } = explanation.value;
    return keys.reduce((best, at) => (weights[at] > weights[best] ? at : best), keys[0]);
  };

  return {
    element,
    status: computed(() =>
      neuronStatus(state, data, explanation.value, focus.value.key ?? strongestOf(shown.keys)),
    ),
    legend: computed<Phrase>(() => [
      colored(context.palette.value.positive, "■"),
      " positive  ",
      colored(context.palette.value.negative, "■"),
      " negative",
      ` · strongest colour ±${number(vector.value)} (q, k), ±${number(product.value)} (q × k)`,
      ...[keptAsWeights([data.info])].filter(Boolean).map((kept) => ` · ${kept}`),
    ]),
    dispose: disposeAll([disposeQueries, disposeKeys, disposeHeads, disposePaint]),
  };
}

function place(element: HTMLElement, left: number, width: number): void {
  element.style.left = `${left}px`;
  element.style.width = `${width}px`;
}

function nameColumns(row: HTMLElement, layout: Layout, { info }: LayerData, head: number): void {
  const { program, dim } = info;
  const scores = program ? `q·k ${scaling(program, head, dim as number)}` : "scores not recorded";
  const columns: [string, number, number][] = [
    ["Query q", layout.queries, layout.strip],
    ["Key k", layout.keys, layout.strip],
    ["q × k", layout.products, layout.strip],
    [scores, layout.scores, layout.scoreWidth],
    ["Softmax", layout.weights, layout.weightWidth + NUMBER_WIDTH],
  ];
  const names = columns.map(([name, left, width]) => {
    const column = el("span", { title: name }, name);
    place(column, left, width);
    return column;
  });
  row.replaceChildren(...names);
}
