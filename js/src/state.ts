/** What the reader chose, as signals: the traits of `AttentionWidget`, and where the pointer is. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import type { StackInfo, Tokens } from "./data/manifest.ts";
import type { Store } from "./data/store.ts";

export type ViewName = "head" | "model" | "neuron";
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
  /** Under the pointer or the keyboard's cursor; never leaves the browser. */
  readonly hover: Signal<Place | null>;
  /** What is looked at: hovered, else locked. */
  readonly focus: ReadonlySignal<Place>;
}

export function createState(choices: Choices): State {
  const signals = Object.fromEntries(
    CHOICES.map((name) => [name, signal(choices[name])]),
  ) as unknown as ChoiceSignals;
  const hover = signal<Place | null>(null);
  const focus = computed(
    () => hover.value ?? { query: signals.query.value, key: signals.key.value },
  );
  return { ...signals, hover, focus };
}

/** Lock a query or a key; the same one again releases it. */
export function toggleLock(state: State, side: "query" | "key", position: number): void {
  const other = side === "query" ? "key" : "query";
  state[side].value = state[side].peek() === position ? null : position;
  state[other].value = null;
}

/** Step to another layer, within the stack, keeping the head where it exists. */
export function setLayer(state: State, store: Store, layer: number): void {
  const { layers } = store.stack(state.stack.peek());
  const next = Math.min(Math.max(layer, 0), layers.length - 1);
  const { heads } = layers[next];
  const shown = state.heads.peek()?.filter((head) => head < heads);
  batch(() => {
    if (shown) state.heads.value = shown.length ? shown : null;
    state.head.value = Math.min(state.head.peek(), heads - 1);
    state.layer.value = next;
  });
}

export function setHead(state: State, store: Store, head: number): void {
  const { heads } = store.stack(state.stack.peek()).layers[state.layer.peek()];
  state.head.value = Math.min(Math.max(head, 0), heads - 1);
}

/** The heads whose lines are drawn. */
export function activeHeads(state: State, store: Store): readonly number[] {
  const { heads } = store.stack(state.stack.value).layers[state.layer.value];
  return state.heads.value ?? Array.from({ length: heads }, (_, head) => head);
}

/** Positions of the queries and keys that the choice of segments shows. */
export function shownTokens(
  segments: Segments,
  stack: StackInfo,
): { queries: number[]; keys: number[] } {
  const of = (tokens: Tokens, letter: string | undefined) =>
    tokens.labels
      .map((_, position) => position)
      .filter((p) => !letter || !tokens.segments || tokens.segments[p] === "ab".indexOf(letter));
  const [query, key] = segments === "all" ? [] : segments;
  return { queries: of(stack.queries, query), keys: of(stack.keys, key) };
}
