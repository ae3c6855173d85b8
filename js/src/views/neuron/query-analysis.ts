/** The comparison of a query with its keys that the neuron view shows, as signals. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { explain, explanationErrors, sees } from "../../data/explanation.ts";
import type { LayerData } from "../../data/layer-data.ts";
import {
  contributions,
  fewest,
  largestFirst,
  magnitudes,
  partnerOf,
  products,
  strongest,
} from "../../data/neurons.ts";
import { headScale } from "../../data/scores.ts";
import type { Side, State } from "../../state/state.ts";
import { axesOf } from "../shared/axes.ts";
import { headIn } from "../shared/layer-view.ts";

export type QueryAnalysis = ReturnType<typeof analyzeQuery>;
export type Explained = QueryAnalysis["explanation"]["value"];

/** The share of the difference between a key's scaled dot product and the mean of the others'. */
export const SHARE = 0.8;

/** @param requested the query to explain, which may not be among the tokens shown */
export function analyzeQuery(state: State, data: LayerData, requested: ReadonlySignal<number>) {
  const dim = data.info.dim as number;
  const head = computed(() => headIn(state, data));
  // Tokens, whether words are chosen or not.
  const axes = axesOf(state, data.stack, false);
  /** The tokens shown, from top to bottom, and the row of each, or -1. */
  const shown = { queries: axes.query.shown, keys: axes.key.shown };
  const places = { query: axes.query.places, key: axes.key.places };
  const isShown = (side: Side, at: number | null | undefined): at is number =>
    places[side][at ?? -1] >= 0;
  const query = computed(() =>
    isShown("query", requested.value) ? requested.value : shown.queries[0],
  );
  /** The query that was locked second, or, if that is the explained one, first. */
  const second = computed(() => {
    const [first, other] = [state.query.value, state.also.value[0]];
    if (first === null || other === undefined) return null;
    const at = query.value === other ? first : other;
    return at !== query.value && isShown("query", at) ? at : null;
  });
  const muted = computed(() => [...new Set(state.muted.value)].filter((n) => n < dim));
  /** An explanation with the logit of the sink, and the bounds of the errors of its numbers. */
  const explained = (at: number) => {
    const explanation = explain(data, head.value, at, muted.value);
    const ofOriginal = explanationErrors(data, head.value, at, false);
    const ofShown =
      explanation.original === explanation.shown
        ? ofOriginal
        : explanationErrors(data, head.value, at, true);
    const errors = { original: ofOriginal, shown: ofShown };
    return { ...explanation, logit: data.sink(head.value), errors };
  };
  /** The explanations of the query, and of the one that it is compared with. */
  const explanation = computed(() => explained(query.value));
  const comparison = computed(() => (second.value === null ? null : explained(second.value)));
  /** One of them, or both. */
  const explanations = computed(() =>
    [explanation.value, comparison.value].filter((one) => one !== null),
  );
  /** The hovered or locked key, or null. */
  const focusKey = computed(() => {
    const { key } = state.focus.value;
    return isShown("key", key) ? key : null;
  });
  /** The key in the status line: that one, or else the one with the largest weight. */
  const key = computed(
    () => focusKey.value ?? strongest(shown.keys, explanation.value.original.weights),
  );

  const { recurrence } = data.info;
  const queryAt = (i: number) => data.query(head.value, i) as Float32Array;
  /** The explained query as a key is multiplied with it. */
  const queryFor = (j: number) => data.queryAt(head.value, query.value, j) as Float32Array;
  const keyAt = (j: number) => data.key(head.value, j) as Float32Array;
  const q = computed(() => queryAt(query.value));
  // A locked key before the hovered one, so that neurons do not move under the pointer.
  const pairKey = computed(() => (isShown("key", state.key.value) ? state.key.value : key.value));
  /** The order of the neurons, from left to right. */
  const order = computed(() => {
    const by = state.neurons.value;
    if (by === "model") return [...Array(dim).keys()];
    const keys =
      by === "pair"
        ? [pairKey.value]
        : [...Array(data.numKeys).keys()].filter((at) => sees(explanation.value, at));
    if (!recurrence) return largestFirst(magnitudes(q.value, keys.map(keyAt)));
    const all = keys.map((at) => products(queryFor(at), keyAt(at)));
    return largestFirst(magnitudes(new Float32Array(dim).fill(1), all));
  });
  // The number of visible keys and their sum, which do not depend on the focused key.
  const visibleKeys = computed(() => {
    const all = data.keys(head.value) as Float32Array;
    const explained = explanation.value;
    const sum = new Float64Array(dim);
    let count = 0;
    for (let key = 0; key < data.numKeys; key++) {
      if (!sees(explained, key)) continue;
      count++;
      for (let n = 0, at = key * dim; n < dim; n++, at++) sum[n] += all[at];
    }
    return { count, sum };
  });
  /** The fewest neurons that make `SHARE` of the key's difference from the others, or null. */
  const decisive = computed(() => {
    const { count, sum } = visibleKeys.value;
    const others = count - 1;
    // With a recurrence, other keys are multiplied with other queries.
    if (recurrence || others < 1 || !sees(explanation.value, key.value)) return null;
    const { program } = data.info;
    const scale = program ? headScale(program, head.value) : 1;
    const vector = keyAt(key.value);
    const mean = sum.map((all, n) => (all - vector[n]) / others);
    return fewest(contributions(scale, q.value, vector, mean), SHARE);
  });

  /** The neuron under the pointer or the keyboard's cursor. */
  const neuron = signal<number | null>(null);
  /** The neuron that a rotary embedding rotates together with it. */
  const partner = computed(() =>
    neuron.value === null ? null : partnerOf(data.info.rotary, neuron.value),
  );
  const [queries, keys] = [sample(shown.queries), sample(shown.keys)];
  const fullColorOf = (vectors: readonly Float32Array[]) => {
    const values = new Float32Array(vectors.length * dim);
    vectors.forEach((one, at) => {
      values.set(one, at * dim);
    });
    return fullColor(values);
  };
  /** The magnitudes of vectors and products shown in full colour. */
  const scales = {
    vector: computed(() => {
      const shownQueries = recurrence ? keys.map(queryFor) : queries.map(queryAt);
      return fullColorOf([...shownQueries, ...keys.map(keyAt)]);
    }),
    product: computed(() => fullColorOf(keys.map((key) => products(queryFor(key), keyAt(key))))),
  };
  return {
    state,
    data,
    axes,
    shown,
    places,
    head,
    explanation,
    comparison,
    explanations,
    focusKey,
    key,
    muted,
    order,
    decisive,
    neuron,
    partner,
    scales,
  };
}

/** The share of magnitudes below the full colour, so that one outlier does not make all others pale. */
const BELOW = 0.98;
const BINS = 1024;

/**
 * A percentile of the magnitudes. Sorts only those in its bin of a histogram, since this runs with
 * every move of the pointer.
 */
function fullColor(values: Float32Array): number {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  const binOf = (value: number) => Math.floor((Math.abs(value) / most) * (BINS - 1));
  const counts = new Uint32Array(BINS);
  for (const value of values) counts[binOf(value)]++;
  let place = Math.floor(BELOW * (values.length - 1));
  let bin = 0;
  while (place >= counts[bin]) place -= counts[bin++];
  const inBin = values.filter((value) => binOf(value) === bin).map(Math.abs);
  return inBin.sort()[place] || 1;
}

/** The number of vectors that a colour scale is computed from. */
const ENOUGH = 128;

function sample(tokens: readonly number[]): readonly number[] {
  const step = tokens.length / ENOUGH;
  if (step <= 1) return tokens;
  return Array.from({ length: ENOUGH }, (_, n) => tokens[Math.floor(n * step)]);
}
