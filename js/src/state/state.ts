/** The state of one view: the reader's choices as signals, and the pointer. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { isValid } from "../basics/reader.ts";
import { same } from "../basics/same.ts";
import { differenceOf, onDifference } from "../data/difference-stack.ts";
import type { Examples, Opening } from "../data/manifest.ts";
import {
  type Arc,
  headsAlone,
  type LayerInfo,
  layerOf,
  type Manifest,
  type Metric,
  ownStacks,
  type ScoreGrid,
  type Similarity,
  type StackInfo,
  type Texts,
  type Tokens,
  textsOf,
} from "../data/manifest.ts";
import { CHOICES, type Choices, defaults, SCHEMA, VIEWS, type ViewName } from "./choices.ts";
import { following } from "./following.ts";

export type { Side } from "../data/manifest.ts";

/** A query and a key; without one of them, the whole row or column. */
export interface TokenPair {
  readonly query: number | null;
  readonly key: number | null;
}

/** A part of a matrix of so many rows and columns. */
export interface Zoom {
  readonly rows: number;
  readonly columns: number;
  /** The first row and column shown. */
  readonly row: number;
  readonly column: number;
  /** The number of cells shown of the longer side. */
  readonly span: number;
}

type ChoiceSignals = { readonly [Name in keyof Choices]: Signal<Choices[Name]> };

export interface State extends ChoiceSignals {
  /** The views that can be chosen: a page may have only some of them. */
  readonly views: readonly ViewName[];
  /** The choices limited to this record: a choice may briefly name a layer or head it lacks. */
  readonly shown: {
    readonly stack: ReadonlySignal<StackInfo>;
    readonly layer: ReadonlySignal<LayerInfo>;
    readonly head: ReadonlySignal<number>;
    /** The texts of its queries and keys. */
    readonly texts: ReadonlySignal<Texts>;
    /** The metrics that apply to this stack. */
    readonly metrics: ReadonlySignal<readonly Metric[]>;
  };
  /** Under the pointer or the keyboard's cursor; never leaves the browser. */
  readonly hover: Signal<TokenPair | null>;
  /** The focused place: the hovered one, else the locked one. */
  readonly focus: ReadonlySignal<TokenPair>;
  /** The last position of the keyboard in either column, for when it comes back. */
  readonly cursor: { query: number; key: number };
  /** The part of the matrix that is shown, kept from layer to layer; null for all of it. */
  readonly zoom: Signal<Zoom | null>;
  /** The scroll position of either column of a long text, in tokens; null until it is known. */
  readonly begin: { query: number | null; key: number | null };
  /** The place that a search or a jump went to, to which views of long texts scroll. */
  readonly sought: Signal<TokenPair | null>;
  /** The text to find among the tokens; "" for none. */
  readonly find: Signal<string>;
  /** The message of an error outside of the view, as in the kernel, until the reader closes it. */
  readonly error: Signal<string | null>;
  /** True to show the attention without the heads that are off, in place of the record. */
  readonly withoutOff: Signal<boolean>;
  /** The manifest of the record, or of the attention that is shown in its place. */
  readonly manifest: Signal<Manifest>;
  /** The metrics that the user computed. */
  readonly ownMetrics: Signal<readonly Metric[]>;
  /** Links that somebody has annotated. */
  readonly arcs: Signal<readonly Arc[]>;
  /** Numbers of layers and positions that were measured beside the record. */
  readonly grids: readonly ScoreGrid[];
  /** The similarity of heads; null if it is not known. */
  readonly similarity: Signal<Similarity | null>;
  /** The examples of heads among the texts of a profile; null without any. */
  readonly examples: Signal<Examples | null>;
  /** The example that the reader has asked for, until its text is shown. */
  readonly opening: Signal<Opening | null>;
  /** False while the map leaves out the heads of the null. */
  readonly nullShown: Signal<boolean>;
  /** A note about the layers that are saved for readers without a kernel; "" for none. */
  readonly note: Signal<string>;
}

/** @param choices may be incomplete: some hosts leave out what has its default. */
export function createState(
  manifest: Manifest,
  choices: Partial<Choices>,
  views: readonly ViewName[] = VIEWS,
): State {
  const shownManifest = signal(manifest);
  const stacks = computed(() => shownManifest.value.stacks);
  const values = defaults(manifest.stacks[0].name);
  const signals = Object.fromEntries(
    CHOICES.map((name) => [name, signal(values[name])]),
  ) as unknown as ChoiceSignals;
  const own = computed(
    () => stacks.value.find((s) => s.name === signals.stack.value) ?? stacks.value[0],
  );
  const stack = computed(() => {
    const compared = shownManifest.value.compared?.stacks.get(own.value.name);
    return compared?.[signals.compared.value] ?? own.value;
  });
  const layer = computed(() => layerOf(stack.value, signals.layer.value));
  const head = computed(() => within(signals.head.value, layer.value.heads));
  const texts = computed(() => textsOf(own.value, ownStacks(shownManifest.value)));
  const ownMetrics = signal<readonly Metric[]>([]);
  const metrics = computed(() => {
    const { compared, metrics: recorded } = shownManifest.value;
    const pair = compared?.stacks.get(own.value.name);
    const all =
      pair && stack.value.difference
        ? [
            ...ownMetrics.value.map((metric) => onDifference(metric, pair)),
            ...recorded.map((metric) => differenceOf(metric, pair)),
          ]
        : [...recorded, ...ownMetrics.value];
    return all.filter(({ values }) => values.has(stack.value.layers[0]));
  });
  const hover = signal<TokenPair | null>(null);
  const focus = computed(() => {
    if (hover.value) return hover.value;
    const known = ({ labels }: Tokens, position: number | null) =>
      position !== null && position < labels.length ? position : null;
    const { queries, keys } = stack.value;
    return { query: known(queries, signals.query.value), key: known(keys, signals.key.value) };
  });
  // Views of running text and of grids are offered where there are any.
  const offered: Partial<Record<ViewName, boolean>> = {
    ...(headsAlone(manifest) && { head: false, neuron: false }),
    text: choices.view === "text" || manifest.stacks.some(({ text }) => text),
    grid: manifest.grids.length > 0,
  };
  const state: State = {
    ...signals,
    views: views.filter((view) => offered[view] ?? true),
    shown: { stack, layer, head, texts, metrics },
    hover,
    focus,
    cursor: { query: -1, key: -1 },
    zoom: signal(null),
    begin: { query: null, key: null },
    sought: signal(null),
    find: signal(""),
    error: signal(null),
    withoutOff: signal(false),
    manifest: shownManifest,
    ownMetrics,
    arcs: signal([]),
    grids: manifest.grids,
    similarity: signal(null),
    examples: signal(null),
    opening: signal(null),
    nullShown: signal(true),
    note: signal(""),
  };
  for (const name of CHOICES) accept(state, name, choices[name]);
  return state;
}

/** Take over a choice from outside, if there is one, or report that its value is invalid. */
export function accept(state: State, name: keyof Choices, value: unknown): void {
  if (isValid(SCHEMA[name].read, value)) (state[name] as Signal<unknown>).value = value;
  else if (value !== undefined) {
    state.error.value = `The new value of ${name} is not valid, so the view keeps the old one.`;
  }
}

/** Make a choice, and those that follow from it. */
export function choose<Name extends keyof Choices>(
  state: State,
  name: Name,
  value: Choices[Name],
): void {
  const before = Object.fromEntries(CHOICES.map((each) => [each, state[each].peek()]));
  if (before[name] === value) return;
  batch(() => {
    (state[name] as Signal<unknown>).value = value;
    const stack = state.shown.stack.peek();
    const follow = following(stack, before as unknown as Choices, name, value);
    for (const [other, to] of Object.entries(follow)) {
      // An equal list is no news.
      if (same(to, before[other])) continue;
      (state[other as keyof Choices] as Signal<unknown>).value = to;
    }
  });
}

/** The nearest index of `count`. */
export const within = (index: number, count: number) => Math.min(Math.max(index, 0), count - 1);

/** Point at a place, or at none. The same place again changes nothing, to save work. */
export function pointAt({ hover }: State, place: TokenPair | null): void {
  const last = hover.peek();
  if (place?.query !== last?.query || place?.key !== last?.key) hover.value = place;
}
