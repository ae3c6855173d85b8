/** What the reader chose, as signals: the traits of `AttentionWidget`, and where the pointer is. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import {
  type LayerInfo,
  layerOf,
  type Manifest,
  type StackInfo,
  type Tokens,
} from "./data/manifest.ts";

export const VIEWS = ["head", "model", "neuron"] as const;

export type ViewName = (typeof VIEWS)[number];
export type Segments = "all" | "aa" | "ab" | "ba" | "bb";

/** The synchronised choices, by the names that they have in Python. */
export interface Choices {
  view: ViewName;
  stack: string;
  layer: number;
  head: number;
  heads: readonly number[] | null;
  query: number | null;
  key: number | null;
  segments: Segments;
  theme: "auto" | "light" | "dark";
}

export const CHOICES = [
  "view",
  "stack",
  "layer",
  "head",
  "heads",
  "query",
  "key",
  "segments",
  "theme",
] as const satisfies readonly (keyof Choices)[];

/** A place in the matrix; a missing side means the whole row or column. */
export interface Place {
  readonly query: number | null;
  readonly key: number | null;
}

export type ChoiceSignals = { readonly [Name in keyof Choices]: Signal<Choices[Name]> };

export interface State extends ChoiceSignals {
  /** The choices as this record has them: a trait may name, if only for a moment, what it has not. */
  readonly shown: {
    readonly stack: ReadonlySignal<StackInfo>;
    readonly layer: ReadonlySignal<LayerInfo>;
    readonly head: ReadonlySignal<number>;
  };
  /** Under the pointer or the keyboard's cursor; never leaves the browser. */
  readonly hover: Signal<Place | null>;
  /** What is looked at: hovered, else locked. */
  readonly focus: ReadonlySignal<Place>;
  /** Where the keyboard was last in either column, for when it comes back. */
  readonly cursor: { query: number; key: number };
}

/** @param choices may be incomplete: some hosts leave out what has its default. */
export function createState({ stacks }: Manifest, choices: Partial<Choices>): State {
  const defaults: Choices = {
    view: "head",
    stack: stacks[0].name,
    layer: 0,
    head: 0,
    heads: null,
    query: null,
    key: null,
    segments: "all",
    theme: "auto",
  };
  const signals = Object.fromEntries(
    CHOICES.map((name) => [name, signal(choices[name] ?? defaults[name])]),
  ) as unknown as ChoiceSignals;
  const stack = computed(() => stacks.find((s) => s.name === signals.stack.value) ?? stacks[0]);
  const layer = computed(() => layerOf(stack.value, signals.layer.value));
  const head = computed(() => within(signals.head.value, layer.value.heads));
  const hover = signal<Place | null>(null);
  const focus = computed(() => {
    if (hover.value) return hover.value;
    const known = (tokens: Tokens, position: number | null) =>
      has(tokens, position) ? position : null;
    const { queries, keys } = stack.value;
    return { query: known(queries, signals.query.value), key: known(keys, signals.key.value) };
  });
  const cursor = { query: -1, key: -1 };
  return { ...signals, shown: { stack, layer, head }, hover, focus, cursor };
}

/** The nearest index of `count`. */
export const within = (index: number, count: number) => Math.min(Math.max(index, 0), count - 1);

/** Lock a place; the same one again releases it. */
export function toggleLock(state: State, place: Place): void {
  const same = state.query.peek() === place.query && state.key.peek() === place.key;
  batch(() => {
    state.query.value = same ? null : place.query;
    state.key.value = same ? null : place.key;
  });
}

/** Show the layer of another number, and another head: the nearest that there are. */
export function goTo(state: State, { layer, head }: { layer?: number; head?: number }): void {
  const { stack, layer: shown } = state.shown;
  const { number, heads } = layer === undefined ? shown.peek() : layerOf(stack.peek(), layer);
  const drawn = state.heads.peek()?.filter((h) => h < heads);
  batch(() => {
    if (drawn) state.heads.value = drawn.length ? drawn : null;
    state.head.value = within(head ?? state.shown.head.peek(), heads);
    state.layer.value = number;
  });
}

/** Show the layer that comes `by` layers after this one in the stack, or the last there is. */
export function stepLayer(state: State, by: number, head = state.shown.head.peek()): void {
  const { layers } = state.shown.stack.peek();
  const at = within(layers.indexOf(state.shown.layer.peek()) + by, layers.length);
  goTo(state, { layer: layers[at].number, head });
}

/** Show another stack: the same layer, head and locks, as far as it has them. */
export function goToStack(state: State, name: string): void {
  const { stack, layer, head } = state.shown;
  const before = { layer: layer.peek().number, head: head.peek() };
  batch(() => {
    state.stack.value = name;
    goTo(state, before);
    const { queries, keys } = stack.peek();
    if (!has(queries, state.query.peek())) state.query.value = null;
    if (!has(keys, state.key.peek())) state.key.value = null;
    state.hover.value = null;
  });
}

const has = ({ labels }: Tokens, position: number | null): boolean =>
  position !== null && position < labels.length;

/** The heads whose lines are drawn, of a layer with `count` heads. */
export function activeHeads(state: State, count: number): readonly number[] {
  const chosen = state.heads.value?.filter((head) => head < count);
  return chosen?.length ? chosen : Array.from({ length: count }, (_, head) => head);
}

/** Positions of queries and keys. */
export interface Shown {
  readonly queries: readonly number[];
  readonly keys: readonly number[];
}

/** Whether a stack's attention can be split by the texts of a pair. */
export const isPair = ({ queries, keys }: StackInfo): boolean =>
  queries.segments !== null && keys.segments !== null;

/** The tokens that the choice of segments shows. */
export function shownTokens(segments: Segments, stack: StackInfo): Shown {
  const of = (tokens: Tokens, letter: string | undefined) =>
    tokens.labels
      .map((_, position) => position)
      .filter((p) => !letter || tokens.segments?.[p] === "ab".indexOf(letter));
  const [query, key] = segments === "all" || !isPair(stack) ? [] : segments;
  const shown = { queries: of(stack.queries, query), keys: of(stack.keys, key) };
  // A text without tokens cannot be shown alone.
  return shown.queries.length && shown.keys.length ? shown : shownTokens("all", stack);
}

/** A place without the sides that are not among the tokens shown. */
export function visible({ query, key }: Place, shown: Shown): Place {
  return {
    query: query !== null && shown.queries.includes(query) ? query : null,
    key: key !== null && shown.keys.includes(key) ? key : null,
  };
}
