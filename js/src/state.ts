/** What the reader chose, as signals, and where the pointer is. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { CHOICES, type Choices, defaults } from "./choices.ts";
import {
  type LayerInfo,
  layerOf,
  type Manifest,
  type StackInfo,
  type Tokens,
} from "./data/manifest.ts";

export type Side = "query" | "key";

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
  /** What the reader looks for among the tokens; "" for nothing. */
  readonly find: Signal<string>;
  /** What went wrong outside of the view, as in the kernel; until the reader closes it. */
  readonly error: Signal<string | null>;
}

/** @param choices may be incomplete: some hosts leave out what has its default. */
export function createState({ stacks }: Manifest, choices: Partial<Choices>): State {
  const given = Object.entries(choices).filter(([, value]) => value !== undefined);
  const all = { ...defaults(stacks[0].name), ...Object.fromEntries(given) };
  const signals = Object.fromEntries(
    CHOICES.map((name) => [name, signal(all[name])]),
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
  const [find, error] = [signal(""), signal<string | null>(null)];
  return { ...signals, shown: { stack, layer, head }, hover, focus, cursor, find, error };
}

/** The nearest index of `count`. */
export const within = (index: number, count: number) => Math.min(Math.max(index, 0), count - 1);

/** Whether there is such a token. */
export const has = ({ labels }: Tokens, position: number | null): boolean =>
  position !== null && position < labels.length;
