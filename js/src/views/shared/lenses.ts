/** A view by a lens: its numbers, and what is said where a layer does not have it. */

import { computed } from "@preact/signals-core";
import { DifferenceLayer, type Layer } from "../../data/layer.ts";
import { ATTENTION, isAttention, type LensInfo, readBy } from "../../data/manifest.ts";
import type { Store } from "../../data/store.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { lensLack, lensRefusal } from "../../state/lens.ts";
import type { State } from "../../state/state.ts";
import { combinesLayers, type Reading } from "./heads/matrices.ts";
import { layerView, notice } from "./layer-view.ts";
import type { Context, ViewContent } from "./view.ts";

/** Why a lens cannot be chosen, in a few words; null if it can. */
export function refusalOf(state: State, store: Store, lens: LensInfo): string | null {
  if (isAttention(lens)) return null;
  const { stack, layer } = state.shown;
  const inHead = state.view.value === "head";
  if (inHead && combinesLayers(state)) return "not of all layers as one";
  if (!inHead && store.manifest.texts !== null) return "of a single text";
  const refusal = lensRefusal(stack.value, lens, state.view.value === "text");
  if (refusal || !hasMatrices(lens) || !inHead) return refusal;
  const isHere = store.stack(stack.value.name).hasNumbers(layer.value.number, lens);
  return isHere ? null : "not saved in this page";
}

const hasMatrices = ({ kind }: LensInfo): boolean => kind === "heads" || kind === "layers";

/** The notice for a layer that does not have the lens, or not here; null if it has. */
function lensNotice(data: Layer, lens: LensInfo): ViewContent | null {
  if (isAttention(lens)) return null;
  const { number } = data.info;
  const lack = lensLack(lens, data.stack, number);
  if (lack) {
    const of = lack.side && ` of ${lack.side}`;
    const { label } = readBy(ATTENTION, data.stack);
    return notice(`Layer ${number}${of} ${lack.sentence}. Choose ${label}, or another layer.`);
  }
  const sides = data instanceof DifferenceLayer ? data.sides : [data];
  if (hasMatrices(lens) || sides.every(({ whole }) => whole)) return null;
  return notice(
    `Layer ${number} is too large to be here as a whole, so it is shown by attention alone: ` +
      "capture a shorter text, or choose Attention.",
  );
}

/**
 * A view of a layer by a lens: waits for the lens's matrices, and says where the layer lacks it.
 *
 * @param build see `layerView`
 */
export function lensView(
  context: Context,
  lensOf: (state: State) => LensInfo,
  build: (data: Layer, scope: Scope, reading: Reading) => ViewContent | null,
): ViewContent {
  const { state, store } = context;
  // A signal of signals, so that a failed answer does not cause another request.
  const request = computed(() => {
    const { stack, layer } = state.shown;
    const [lens, { number }] = [lensOf(state), layer.value];
    if (!hasMatrices(lens) || lensLack(lens, stack.value, number)) return null;
    return store.stack(stack.value.name).numbers(number, lens);
  });
  return layerView(context, (data, scope) => {
    const lens = lensOf(state);
    const lacking = lensNotice(data, lens);
    if (lacking) return lacking;
    const loaded = request.value?.value;
    if (loaded?.status === "failed") return notice(loaded.message, "alert", loaded.absent);
    if (loaded?.status === "loading") return null;
    return build(data, scope, { lens, numbers: loaded?.data });
  });
}
