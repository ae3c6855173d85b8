/** The neuron view: how the query and key vectors of one head make its attention weights. */

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals-core";
import type { LayerData } from "../data/layer.ts";
import type { Program, Tokens } from "../data/manifest.ts";
import { disposeAll } from "../parts/dispose.ts";
import { el, sizeCanvas } from "../parts/dom.ts";
import { columnWidth, formula, number, type Phrase, strong, weight } from "../parts/text.ts";
import { rowHeight, tokenColumn, tokenFontSize } from "../parts/tokens.ts";
import { shownTokens, toggleLock } from "../state.ts";
import { headIn, type Inside, layerView } from "./layer-view.ts";
import { type Layout, layoutFor, NUMBER_WIDTH } from "./neuron-layout.ts";
import { type Explanation, paintNeurons, productScale, vectorScale } from "./neuron-paint.ts";
import type { Context, View } from "./view.ts";

export function neuronView(context: Context): View {
  const { state } = context;
  // Something is always explained: the query looked at, else the locked one, else what last was.
  const explained = signal(state.query.peek() ?? firstWord(state.shown.stack.peek().queries));
  const keep = effect(() => {
    const query = state.focus.value.query ?? state.query.value;
    if (query !== null) explained.value = query;
  });
  const view = layerView(context, (data) =>
    data.info.dim === null ? noVectors() : inside(context, data, explained),
  );
  return { ...view, dispose: disposeAll([keep, view.dispose]) };
}

function noVectors(): Inside {
  const nothing = computed<Phrase>(() => []);
  const message =
    "This layer was recorded as attention weights alone, without the query and key vectors " +
    "that this view explains them by. Capture the model with attnwidget.capture to have them.";
  return {
    element: el("p", { class: "notice" }, message),
    status: nothing,
    legend: nothing,
    dispose() {},
  };
}

function inside(context: Context, data: LayerData, wanted: ReadonlySignal<number>): Inside {
  const { state } = context;
  const width = context.width.value;
  const { stack } = data;
  const shown = shownTokens(state.segments.value, stack);
  const row = rowHeight(Math.max(shown.queries.length, shown.keys.length));
  const dim = data.info.dim as number;
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

  const [queries, disposeQueries] = tokenColumn({
    side: "query",
    tokens: stack.queries,
    state,
    rowHeight: row,
    positions: shown.queries,
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
    emphasis: computed(() => null),
  });
  const height = row * Math.max(shown.queries.length, shown.keys.length);
  const canvas = el("canvas", { "aria-hidden": "true" });
  const stage = el("div", { class: "neurons" }, canvas, queries, keys);
  place(queries, 0, layout.labels);
  place(keys, layout.keyLabels, layout.labels);
  stage.style.height = `${height}px`;
  const heads = columnHeads(layout, data.info.program, dim);
  const element = el("div", { class: "neuron-view" }, heads, stage);

  const disposePaint = effect(() => {
    paintNeurons(sizeCanvas(canvas, width, height), {
      data,
      head: head.value,
      shown,
      layout,
      rowHeight: row,
      palette: context.palette.value,
      explanation: explanation.value,
      focusKey: state.focus.value.key,
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
    const at = shown.queries[Math.floor(event.offsetY / row)];
    if (event.offsetX < layout.keyLabels && at !== undefined) toggleLock(state, "query", at);
  });

  return {
    element,
    status: computed(() => statusOf(context, data, explanation.value)),
    legend: computed<Phrase>(() => [
      { mark: "positive", text: "■ positive  " },
      { mark: "negative", text: "■ negative" },
      ` · full colour at ±${number(vector.value)}, q × k ±${number(product.value)}`,
    ]),
    dispose: disposeAll([disposeQueries, disposeKeys, disposePaint]),
  };
}

function firstWord({ labels, special }: Tokens): number {
  const word = labels.findIndex((_, position) => !special.includes(position));
  return Math.max(word, 0);
}

function place(element: HTMLElement, left: number, width: number): void {
  element.style.left = `${left}px`;
  element.style.width = `${width}px`;
}

function columnHeads(layout: Layout, program: Program | null, dim: number): HTMLElement {
  const scores = program ? formula(program, dim) : "score";
  const columns: [string, number, number][] = [
    ["Query q", layout.queries, layout.strip],
    ["Key k", layout.keys, layout.strip],
    ["q × k", layout.products, layout.strip],
    [scores, layout.scores, layout.scoreWidth],
    ["Softmax", layout.weights, layout.weightWidth + NUMBER_WIDTH],
  ];
  const row = el("div", { class: "column-heads" });
  for (const [name, left, width] of columns) {
    const column = el("span", { title: name }, name);
    place(column, left, width);
    row.append(column);
  }
  return row;
}

function statusOf(
  { state }: Context,
  data: LayerData,
  { query, scores, weights }: Explanation,
): Phrase {
  const head = headIn(state, data);
  const { stack } = data;
  const from = stack.queries.labels[query];
  const place = `Layer ${data.index} · Head ${head}  `;
  const key = state.focus.value.key ?? weights.indexOf(Math.max(...weights));
  const [q, k] = [data.query(head, query), data.key(head, key)];
  const pair = strong(`${from} → ${stack.keys.labels[key]}`);
  if (!q || !k || !scores || !data.info.program)
    return [place, pair, ` softmax ${weight(weights[key])}`];
  const products = q.map((value, n) => value * k[n]);
  const dot = products.reduce((sum, value) => sum + value, 0);
  const top = products.reduce(
    (best, value, n) => (Math.abs(value) > Math.abs(products[best]) ? n : best),
    0,
  );
  return [
    place,
    pair,
    ` q·k ${number(dot)} · ${formula(data.info.program, q.length)} = ${number(scores[key])}`,
    ` · softmax ${weight(weights[key])} · neuron ${top} adds ${number(products[top])}`,
  ];
}
