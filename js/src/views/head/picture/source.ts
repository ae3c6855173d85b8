/** What all parts of the picture view share: the image, the tokens whose attention is shown, its weights. */

import { computed } from "@preact/signals-core";
import { roundingOfSum } from "../../../data/attention-matrix.ts";
import { middleOf, type Patches, type Side } from "../../../data/manifest.ts";
import { lockedOn, otherSide, toggleAlso, togglePair } from "../../../state/locks.ts";
import { pointAt, type TokenPair } from "../../../state/state.ts";
import { headColors } from "../../../styles/head-colors.ts";
import { type FocusedUnits, sideOf } from "../../shared/axes.ts";
import { stripsOf } from "../../shared/heads/matrices.ts";
import type { HeadContent } from "../../shared/heads/words.ts";
import type { Context } from "../../shared/view.ts";
import { layoutOf } from "./layout.ts";
import { imageOf } from "./paint.ts";
import { tokensOf } from "./shade.ts";

export type Picture = ReturnType<typeof pictureOf>;
export type PictureSide = ReturnType<Picture["on"]>;

export function pictureOf(context: Context, content: HeadContent, patches: Patches) {
  const { state, palette, store } = context;
  const { data, axes, focused, matrix } = content;
  const { heads, program } = data.info;
  const { names } = axes.key;
  const alone = names.flatMap((_, token) => (patches.of[token] === null ? [token] : []));
  const isShown = (token: number) => axes.key.places[token] >= 0;
  const withoutPatch = alone.filter(isShown);
  const hidden = alone.filter((token) => !isShown(token));
  const middle = patches.of.indexOf(middleOf(patches));
  // With a causal mask, only the last token sees all others.
  const isCausal = (program?.mask ?? "none") !== "none";
  const first = isCausal ? names.length - 1 : (withoutPatch[0] ?? middle);
  const shown = computed<FocusedUnits>(() =>
    sideOf(focused.value) ? focused.value : { query: [first], key: [] },
  );
  const side = computed<Side>(() => sideOf(shown.value) ?? "query");
  const other = computed(() => otherSide(side.value));
  const from = computed(() => shown.value[side.value]);
  const strips = stripsOf(content.matrices, shown);
  const weights = computed(() => {
    const strip = strips.value?.[0] ?? null;
    if (!strip || !hidden.length) return strip;
    const seen = strip.slice();
    for (const token of hidden) seen[token] = 0;
    return seen;
  });
  const colors = computed(() => headColors(heads, palette.value.dark));
  return {
    ...context,
    content,
    patches,
    names,
    /** The token of each patch. */
    tokens: tokensOf(patches),
    /** The tokens without a patch that are shown, such as [CLS]. */
    withoutPatch,
    layout: layoutOf(context.width.value, patches, heads),
    image: imageOf(store.manifest),
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
    /** Their names. */
    name: computed(() => from.value.map((token) => names[token]).join(" + ")),
    /** True if one of them is a patch, whose attention to itself is kept out of the scale. */
    onPicture: computed(() => from.value.some((token) => patches.of[token] !== null)),
    /**
     * The weights between them and each token of the other side, 0 for tokens without a patch that
     * are not shown; null while they are missing.
     */
    weights,
    /** A bound of the difference between a token's weight and the record's. */
    rounding: (token: number): number => roundingOfSum(matrix.value, side.value, from.value, token),
    /** The pair of the token in focus and another one. */
    pairWith(token: number): TokenPair {
      const [own] = from.peek();
      return side.peek() === "query" ? { query: own, key: token } : { query: token, key: own };
    },
    /** The tokens on one side, as the patches of a picture and the tokens beside it show them. */
    on: (on: Side) => ({
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
    }),
  };
}
