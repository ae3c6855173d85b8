/** What all parts of the picture view share: the images, the tokens whose attention is shown, its weights. */

import { computed } from "@preact/signals-core";
import { roundingOfSum } from "../../../data/attention-matrix.ts";
import {
  type Grid,
  gridOf,
  type Patches,
  type patchesOn,
  type Side,
} from "../../../data/manifest.ts";
import { lockedOn, otherSide, toggleAlso, togglePair } from "../../../state/locks.ts";
import { pointAt, type TokenPair } from "../../../state/state.ts";
import { headColors } from "../../../styles/head-colors.ts";
import { type FocusedUnits, sideOf } from "../../shared/axes.ts";
import { stripsOf } from "../../shared/heads/matrices.ts";
import type { HeadContent } from "../../shared/heads/words.ts";
import { boxesOf, type Mark, marksOf } from "../../shared/picture/paint.ts";
import { firstQuery, largestOn, tokensOf } from "../../shared/picture/shade.ts";
import type { Context } from "../../shared/view.ts";
import { layoutOf } from "./layout.ts";

export type Picture = ReturnType<typeof pictureOf>;
export type PictureSide = Picture["query"];

/** The grid that is shown of either side; null for a side without one. */
export type Grids = NonNullable<ReturnType<typeof patchesOn>>;

export function pictureOf(context: Context, content: HeadContent, grids: Grids) {
  const { state, palette, store } = context;
  const { data, axes, focused, matrix } = content;
  const { heads } = data.info;
  const { stack } = data;
  const self = stack.queries === stack.keys;
  const tokensOn = { query: stack.queries, key: stack.keys };

  const partsOf = (on: Side) => {
    const { names, places } = axes[on];
    const { patches: known } = tokensOn[on];
    const all = names.map((_, token) => token);
    const alone = all.filter((token) => known?.of[token] == null || !grids[on]);
    return {
      names,
      patches: grids[on],
      /** By patch of the grid shown. */
      tokens: grids[on] ? tokensOf(grids[on]) : new Int32Array(),
      /** The tokens with a place on any grid, and those without one, such as [CLS]. */
      placed: grids[on] ? all.filter((token) => known?.of[token] != null) : [],
      withoutPatch: alone.filter((token) => places[token] >= 0),
      hidden: alone.filter((token) => places[token] < 0),
    };
  };
  const parts = { query: partsOf("query"), key: partsOf("key") };
  const main: Side = grids.key ? "key" : "query";
  const first = firstQuery(stack, data.info, parts.query.withoutPatch, grids.query);
  const shown = computed<FocusedUnits>(() =>
    sideOf(focused.value) ? focused.value : { query: [first], key: [] },
  );
  const side = computed<Side>(() => sideOf(shown.value) ?? "query");
  const other = computed(() => otherSide(side.value));
  const from = computed(() => shown.value[side.value]);
  /** The tokens in focus that the other picture has as well. */
  const itself = computed(() => (self ? from.value : []));
  const strips = stripsOf(content.matrices, shown);
  const whole = computed(() => strips.value?.[0] ?? null);
  const weights = computed(() => {
    const { hidden } = parts[other.value];
    if (!whole.value || !hidden.length) return whole.value;
    const seen = whole.value.slice();
    for (const token of hidden) seen[token] = 0;
    return seen;
  });
  const colors = computed(() => headColors(heads, palette.value.dark));
  const onSide = (on: Side) => ({
    ...parts[on],
    side: on,
    focused: computed(() => focused.value[on]),
    /** The tokens whose attention is shown, as far as they are on this side. */
    shown: computed(() => shown.value[on]),
    locked: computed(() => lockedOn(state, on)),
    /** By token; null for none. */
    weights: computed(() => (other.value === on ? weights.value : null)),
    pointAt(token: number | null): void {
      pointAt(state, token === null ? null : { query: null, key: null, [on]: token });
    },
    toggle(token: number, event: MouseEvent | KeyboardEvent): void {
      if (event.shiftKey) togglePair(state, on, token);
      else toggleAlso(state, on, token);
    },
  });
  return {
    ...context,
    content,
    /** True if queries and keys are the same tokens. */
    self,
    /** The side whose grids are chosen, and lie behind the small maps. */
    main,
    /** True if the tokens of its grids have weights. */
    onMain: computed(() => self || other.value === main),
    layout: layoutOf(context.width.value, (grids.key ?? grids.query)?.aspect ?? 1, heads),
    query: onSide("query"),
    key: onSide("key"),
    /** The colours of heads, and that of the matrix. */
    colors,
    color: computed(() => {
      const { head } = matrix.value;
      return head === null ? palette.value.ink : colors.value[head];
    }),
    /** The tokens in focus, or else one: [CLS], the patch in the middle, or the last of a text. */
    shown,
    /** The side on which they are: queries that look, or keys that are looked at. */
    side,
    other,
    from,
    itself,
    /** Their names. */
    name: computed(() => from.value.map((token) => parts[side.value].names[token]).join(" + ")),
    /** True if one of them is a patch, whose attention to itself is kept out of the scale. */
    onPicture: computed(() => from.value.some((token) => parts[side.value].placed.includes(token))),
    /**
     * The weights between them and each token of the other side, 0 for tokens without a patch that
     * are not shown; null while they are missing.
     */
    weights,
    /** The same with those of all tokens. */
    whole,
    /** The largest of some weights on images, for the scale of their shades on all grids. */
    largest: (weights: ArrayLike<number>) =>
      largestOn(weights, parts[other.value].placed, itself.value),
    /** The word for a number. */
    one: computed(() => matrix.value.lens.one),
    /** A bound of the difference between a token's weight and the record's. */
    rounding: (token: number): number => roundingOfSum(matrix.value, side.value, from.value, token),
    /** The boxes that are predicted for them, on a grid. */
    boxesOn: (grid: Patches, line: number): readonly Mark[] =>
      boxesOf(from.value, tokensOn[side.value], grid, palette.value.accent, line),
    /** Their frames on a grid of the main side. */
    framesOn(grid: Patches): readonly Mark[] {
      const own = side.value === main ? from.value : itself.value;
      return [...marksOf(own, grid, palette.value.accent, 1.5), ...this.boxesOn(grid, 1.5)];
    },
    /** All grids of the main side. */
    grids: (tokensOn[main].patches?.grids ?? []).flatMap(
      (_, at) => gridOf(store.manifest, tokensOn[main], at) ?? [],
    ),
    /** The grid on which a token lies, whichever is shown, and its patch there; null for neither. */
    placeOf(on: Side, token: number): readonly [Grid, number] | null {
      const { patches } = tokensOn[on];
      const patch = patches?.of[token] ?? null;
      return !grids[on] || !patches || patch === null
        ? null
        : [patches.grids[patches.on[token]], patch];
    },
    /** The pair of the token in focus and another one. */
    pairWith(token: number): TokenPair {
      const [own] = from.peek();
      return side.peek() === "query" ? { query: own, key: token } : { query: token, key: own };
    },
  };
}
