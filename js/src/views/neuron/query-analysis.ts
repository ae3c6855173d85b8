/** The comparison of a query with its keys that the neuron view shows, as signals. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { type Explanation, explain, sees } from "../../data/explanation.ts";
import type { LayerData } from "../../data/layer-data.ts";
import {
  contributions,
  fewest,
  largestFirst,
  magnitudes,
  partnerOf,
  products,
  sumOf,
} from "../../data/neurons.ts";
import { headScale } from "../../data/scores.ts";
import { placesOf } from "../../parts/track.ts";
import { type Shown, visible } from "../../state/shown.ts";
import type { Side, State } from "../../state/state.ts";
import { headIn } from "../shared/layer-view.ts";

export interface QueryAnalysis {
  readonly data: LayerData;
  readonly shown: Shown;
  /** The row of each token, or -1. */
  readonly places: Readonly<Record<Side, Int32Array>>;
  readonly head: ReadonlySignal<number>;
  /** The explanations of the query, and of the one that it is compared with. */
  readonly explanation: ReadonlySignal<Explanation>;
  readonly comparison: ReadonlySignal<Explanation | null>;
  /** The hovered or locked key, or null. */
  readonly focusKey: ReadonlySignal<number | null>;
  /** The key in the status line: that one, or else the one with the largest weight. */
  readonly key: ReadonlySignal<number>;
  readonly muted: ReadonlySignal<readonly number[]>;
  /** The order of the neurons, from left to right. */
  readonly order: ReadonlySignal<readonly number[]>;
  /** The fewest neurons that make `SHARE` of the key's difference from the others, or null. */
  readonly decisive: ReadonlySignal<readonly number[] | null>;
  /** The neuron under the pointer or the keyboard's cursor. */
  readonly neuron: Signal<number | null>;
  /** The neuron that a rotary embedding rotates together with it. */
  readonly partner: ReadonlySignal<number | null>;
  /** The magnitudes shown in full colour. */
  readonly scales: {
    readonly vector: ReadonlySignal<number>;
    readonly product: ReadonlySignal<number>;
  };
}

/** The share of the difference between a key's scaled dot product and the mean of the others'. */
export const SHARE = 0.8;

/** @param wanted the query to explain, which may not be among the tokens shown */
export function analyzeQuery(
  state: State,
  data: LayerData,
  shown: Shown,
  requested: ReadonlySignal<number>,
): QueryAnalysis {
  const dim = data.info.dim as number;
  const head = computed(() => headIn(state, data));
  const places = {
    query: placesOf(shown.queries, data.numQueries),
    key: placesOf(shown.keys, data.numKeys),
  };
  const query = computed(() =>
    places.query[requested.value] >= 0 ? requested.value : shown.queries[0],
  );
  const second = computed(() => comparedWith(state, shown, query.value));
  const muted = computed(() => [...new Set(state.muted.value)].filter((n) => n < dim));
  const explanation = computed(() => explain(data, head.value, query.value, muted.value));
  const comparison = computed(() =>
    second.value === null ? null : explain(data, head.value, second.value, muted.value),
  );
  const focusKey = computed(() => visible(state.focus.value, shown).key);
  const strongest = computed(() => {
    const { weights } = explanation.value.original;
    return shown.keys.reduce((best, at) => (weights[at] > weights[best] ? at : best));
  });
  const key = computed(() => focusKey.value ?? strongest.value);

  const queryAt = (i: number) => data.query(head.value, i) as Float32Array;
  const keyAt = (j: number) => data.key(head.value, j) as Float32Array;
  const q = computed(() => queryAt(query.value));
  const visibleKeys = computed(() =>
    [...Array(data.numKeys).keys()].filter((at) => sees(explanation.value, at)),
  );
  // A locked key before the hovered one, so that neurons do not move under the pointer.
  const pairKey = computed(
    () => visible({ query: null, key: state.key.value }, shown).key ?? key.value,
  );
  const order = computed(() => {
    const by = state.neurons.value;
    if (by === "model") return [...Array(dim).keys()];
    const keys = by === "pair" ? [pairKey.value] : visibleKeys.value;
    return largestFirst(magnitudes(q.value, keys.map(keyAt)));
  });
  // Does not depend on the focused key.
  const total = computed(() => sumOf(visibleKeys.value.map(keyAt), dim));
  const decisive = computed(() => {
    const others = visibleKeys.value.length - 1;
    if (others < 1 || !sees(explanation.value, key.value)) return null;
    const { program } = data.info;
    const scale = program ? headScale(program, head.value) : 1;
    const vector = keyAt(key.value);
    const mean = total.value.map((sum, n) => (sum - vector[n]) / others);
    return fewest(contributions(scale, q.value, vector, mean), SHARE);
  });

  const neuron = signal<number | null>(null);
  const partner = computed(() =>
    neuron.value === null ? null : partnerOf(data.info.rotary, neuron.value),
  );
  const vector = computed(() =>
    fullColor([...sample(shown.queries).map(queryAt), ...sample(shown.keys).map(keyAt)]),
  );
  const sampled = sample(shown.keys);
  const product = computed(() => fullColor(sampled.map((at) => products(q.value, keyAt(at)))));
  return {
    data,
    shown,
    places,
    head,
    explanation,
    comparison,
    focusKey,
    key,
    muted,
    order,
    decisive,
    neuron,
    partner,
    scales: { vector, product },
  };
}

/** The query that was locked second, or, if that is the explained one, first. */
function comparedWith(state: State, shown: Shown, query: number): number | null {
  const first = state.query.value;
  const second = state.also.value[0];
  if (first === null || second === undefined) return null;
  const at = query === second ? first : second;
  return at !== query && shown.queries.includes(at) ? at : null;
}

/** The 98th percentile, so that a single outlier does not make all others pale. */
function fullColor(vectors: readonly Float32Array[]): number {
  const sorted = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const vector of vectors) for (const value of vector) sorted[at++] = Math.abs(value);
  sorted.sort();
  return sorted[Math.floor(0.98 * (sorted.length - 1))] || 1;
}

/** The number of vectors that a colour scale is computed from. */
const ENOUGH = 128;

function sample(tokens: readonly number[]): readonly number[] {
  const step = tokens.length / ENOUGH;
  if (step <= 1) return tokens;
  return Array.from({ length: ENOUGH }, (_, n) => tokens[Math.floor(n * step)]);
}
