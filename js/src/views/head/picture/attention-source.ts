/** The tokens whose attention the picture shows, and its weights: signals that all parts share. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { type AttentionMatrix, roundingOfSum } from "../../../data/attention-matrix.ts";
import { middleOf, type Patches, type Side } from "../../../data/manifest.ts";
import { otherSide } from "../../../state/locks.ts";
import { type Axes, type FocusedUnits, sideOf } from "../../shared/axes.ts";
import { stripsOf } from "../../shared/strips.ts";

export interface AttentionSource {
  readonly patches: Patches;
  readonly names: readonly string[];
  /** The tokens without a patch that are shown, such as [CLS]. */
  readonly withoutPatch: readonly number[];
  /** The tokens in focus, or else one: [CLS], the patch in the middle, or the last of a text. */
  readonly shown: ReadonlySignal<FocusedUnits>;
  /** The side on which they are: queries that look, or keys that are looked at. */
  readonly side: ReadonlySignal<Side>;
  readonly other: ReadonlySignal<Side>;
  readonly from: ReadonlySignal<readonly number[]>;
  /** Their names. */
  readonly name: ReadonlySignal<string>;
  /** True if one of them is a patch, whose attention to itself is kept out of the scale. */
  readonly onPicture: ReadonlySignal<boolean>;
  /**
   * The weights between them and each token of the other side, 0 for tokens without a patch that
   * are not shown; null while they are missing.
   */
  readonly weights: ReadonlySignal<Float32Array | null>;
  /** A bound of the difference between a token's weight and the record's. */
  rounding(token: number): number;
}

/** @param isCausal true if only the last token sees all others */
export function attentionSourceOf(
  axes: Axes,
  patches: Patches,
  focused: ReadonlySignal<FocusedUnits>,
  matrix: ReadonlySignal<AttentionMatrix>,
  isCausal: boolean,
): AttentionSource {
  const { names } = axes.key;
  const alone = names.flatMap((_, token) => (patches.of[token] === null ? [token] : []));
  const isShown = (token: number) => axes.key.places[token] >= 0;
  const withoutPatch = alone.filter(isShown);
  const hidden = alone.filter((token) => !isShown(token));
  const middle = patches.of.indexOf(middleOf(patches));
  const first = isCausal ? names.length - 1 : (withoutPatch[0] ?? middle);
  const shown = computed<FocusedUnits>(() =>
    sideOf(focused.value) ? focused.value : { query: [first], key: [] },
  );
  const side = computed<Side>(() => sideOf(shown.value) ?? "query");
  const from = computed(() => shown.value[side.value]);
  const strips = stripsOf(
    computed(() => [matrix.value]),
    shown,
  );
  return {
    patches,
    names,
    withoutPatch,
    shown,
    side,
    other: computed(() => otherSide(side.value)),
    from,
    name: computed(() => from.value.map((token) => names[token]).join(" + ")),
    onPicture: computed(() => from.value.some((token) => patches.of[token] !== null)),
    weights: computed(() => {
      const strip = strips.value?.[0] ?? null;
      if (!strip || !hidden.length) return strip;
      const shown = strip.slice();
      for (const token of hidden) shown[token] = 0;
      return shown;
    }),
    rounding: (token) => roundingOfSum(matrix.value, side.value, from.value, token),
  };
}
