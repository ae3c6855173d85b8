/** The axes of a matrix, and the units on them in focus. */

import { computed, type ReadonlySignal, untracked } from "@preact/signals-core";
import { same } from "../../basics/same.ts";
import type { StackInfo } from "../../data/manifest.ts";
import { shownTokens } from "../../data/shown.ts";
import { type Units, unitsOf } from "../../data/units.ts";
import { tokenNames } from "../../parts/text.ts";
import { NAMES } from "../../parts/tokens.ts";
import { placesOf } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { joinsWords } from "../../state/lens.ts";
import { lockedOn } from "../../state/locks.ts";
import type { Side, State, TokenPair } from "../../state/state.ts";

export interface Axis {
  readonly side: Side;
  /** The name of the units, such as "decoder queries". */
  readonly title: string;
  readonly units: Units;
  /** The units shown, in order. */
  readonly shown: readonly number[];
  /** The place of each unit among those shown, or -1. */
  readonly places: Int32Array;
  /** The places where the second text of a pair begins. */
  readonly borders: readonly number[];
  readonly names: readonly string[];
}

export type Axes = Readonly<Record<Side, Axis>>;

/** The axes of a stack's matrices, for the chosen segments, of tokens or words. */
export function axesOf(state: State, stack: StackInfo, words = joinsWords(state)): Axes {
  const shown = shownTokens(state.segments.value, stack);
  const texts = state.shown.texts.value;
  const axis = (side: Side, tokens: StackInfo["queries"], positions: readonly number[]): Axis => {
    const units = unitsOf(tokens, words);
    const some = [...new Set(positions.map((position) => units.of[position]))];
    const places = placesOf(some, units.labels.length);
    const text = (unit: number) => tokens.segments?.[units.tokens[unit][0]];
    const borders = some.flatMap((unit, at) =>
      at > 0 && text(unit) !== text(some[at - 1]) ? [at] : [],
    );
    const title = `${texts?.[side] ?? ""} ${NAMES[side].toLowerCase()}`.trim();
    return { side, title, units, shown: some, places, borders, names: tokenNames(units) };
  };
  return {
    query: axis("query", stack.queries, shown.queries),
    key: axis("key", stack.keys, shown.keys),
  };
}

/** True if queries and keys are tokens of the same text. */
export const sameText = ({ query, key }: Axes): boolean =>
  same(query.units.labels, key.units.labels);

/** True if both axes show the same tokens of the same text. */
export const sameColumns = (axes: Axes): boolean =>
  same(axes.query.shown, axes.key.shown) && sameText(axes);

/** The position of a unit in the state: its first token. */
export const positionOf = ({ units }: Axis, unit: number): number => units.tokens[unit][0];

/** The place of the unit at a position; -1 if it is not shown, or there is none. */
export const placeAt = ({ units, places }: Axis, position: number | null): number =>
  position === null ? -1 : (places[units.of[position]] ?? -1);

/** The units at these positions, as far as they are shown. */
export const unitsAt = ({ units, places }: Axis, positions: readonly number[]): readonly number[] =>
  [...new Set(positions.map((position) => units.of[position]))].filter((unit) => places[unit] >= 0);

export function placeOf(axes: Axes, query: number | null, key: number | null): TokenPair {
  return {
    query: query === null ? null : positionOf(axes.query, query),
    key: key === null ? null : positionOf(axes.key, key),
  };
}

/** Go where a search or a jump goes after now, while nothing is watched. */
export function onSought(scope: Scope, { sought }: State, go: (place: TokenPair) => void): void {
  const before = sought.peek();
  scope.effect(() => {
    const place = sought.value;
    if (place && place !== before) untracked(() => go(place));
  });
}

/** A cut link by the units that it joins, as far as they are shown. */
export type CutUnits = Readonly<Record<Side, readonly number[]>>;

/** The units under the pointer, or else the locked ones; on both sides, a pair. */
export type FocusedUnits = Readonly<Record<Side, readonly number[]>>;

/** The focused units, as far as they are shown. */
export function focusedUnits(state: State, axes: Axes): ReadonlySignal<FocusedUnits> {
  return computed(() => {
    const hovered = state.hover.value;
    const on = (axis: Axis) => {
      const at = hovered?.[axis.side] ?? null;
      return unitsAt(axis, !hovered ? lockedOn(state, axis.side) : at === null ? [] : [at]);
    };
    return { query: on(axes.query), key: on(axes.key) };
  });
}

/** The side whose attention is shown for the focused units, or null. */
export function sideOf({ query, key }: FocusedUnits): Side | null {
  return query.length ? "query" : key.length ? "key" : null;
}
