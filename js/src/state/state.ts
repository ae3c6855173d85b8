/** The state of one view: the reader's choices as signals, and the pointer. */

import { batch, computed, type Signal, signal } from "@preact/signals-core";
import { isValid } from "../basics/reader.ts";
import { same } from "../basics/same.ts";
import { differenceOf, onDifference } from "../data/difference-stack.ts";
import {
  type Arc,
  type Examples,
  headsAlone,
  layerOf,
  type Manifest,
  type Metric,
  type Opening,
  ownStacks,
  type Side,
  type Similarity,
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

export type State = ReturnType<typeof createState>;

/** @param choices may be incomplete: some hosts leave out what has its default. */
export function createState(
  manifest: Manifest,
  choices: Partial<Choices>,
  views: readonly ViewName[] = VIEWS,
) {
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
  /** The texts of its queries and keys. */
  const texts = computed(() => textsOf(own.value, ownStacks(shownManifest.value)));
  const ownMetrics = signal<readonly Metric[]>([]);
  /** The metrics that apply to this stack. */
  const metrics = computed((): readonly Metric[] => {
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
  const state = {
    ...signals,
    /** The views that can be chosen: a page may have only some of them. */
    views: views.filter((view) => offered[view] ?? true),
    /** The choices limited to this record: a choice may briefly name a layer or head it lacks. */
    shown: { stack, layer, head, texts, metrics },
    /** Under the pointer or the keyboard's cursor; never leaves the browser. */
    hover,
    /** The focused place: the hovered one, else the locked one. */
    focus,
    /** The last position of the keyboard in either column, for when it comes back. */
    cursor: { query: -1, key: -1 },
    /** The part of the matrix that is shown, kept from layer to layer; null for all of it. */
    zoom: signal<Zoom | null>(null),
    /** The scroll position of either column of a long text, in tokens; null until it is known. */
    begin: { query: null, key: null } as Record<Side, number | null>,
    /** The place that a search or a jump went to, to which views of long texts scroll. */
    sought: signal<TokenPair | null>(null),
    /** The text to find among the tokens; "" for none. */
    find: signal(""),
    /** The message of an error outside of the view, as in the kernel, until the reader closes it. */
    error: signal<string | null>(null),
    /** True to show the attention without the heads that are off, in place of the record. */
    withoutOff: signal(false),
    /** The manifest of the record, or of the attention that is shown in its place. */
    manifest: shownManifest,
    /** The metrics that the user computed. */
    ownMetrics,
    /** Links that somebody has annotated. */
    arcs: signal<readonly Arc[]>([]),
    /** Numbers of layers and positions that were measured beside the record. */
    grids: manifest.grids,
    /** The similarity of heads; null if it is not known. */
    similarity: signal<Similarity | null>(null),
    /** The examples of heads among the texts of a profile; null without any. */
    examples: signal<Examples | null>(null),
    /** The example that the reader has asked for, until its text is shown. */
    opening: signal<Opening | null>(null),
    /** False while the map leaves out the heads of the null. */
    nullShown: signal(true),
    /** A note about the layers that are saved for readers without a kernel; "" for none. */
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
