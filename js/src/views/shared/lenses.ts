/** The lens of heads: its control, its numbers, and the notice where a layer does not have it. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { DifferenceLayer, type Layer } from "../../data/layer.ts";
import type { LayerInfo, LensInfo } from "../../data/manifest.ts";
import type { Loaded } from "../../data/resource-cache.ts";
import type { LensNumbers } from "../../data/stack-store.ts";
import type { Store } from "../../data/store.ts";
import type { ComputedThumbnails } from "../../data/thumbnails.ts";
import { lensMatrix } from "../../lenses/index.ts";
import { choice, type Option } from "../../parts/choice.ts";
import { layerNames } from "../../parts/fidelity.ts";
import type { Scope } from "../../scheduling/scope.ts";
import {
  attentionOf,
  headLens,
  isAttention,
  lensesOf,
  lensLack,
  lensRefusal,
  shownLens,
} from "../../state/lens.ts";
import type { State } from "../../state/state.ts";
import { combinesLayers } from "./heads/matrices.ts";
import { notice } from "./layer-view.ts";
import type { ViewContent } from "./view.ts";

export interface Weighting {
  readonly control: HTMLElement;
  /** Choose the next lens that this stack has. */
  next(): void;
}

/** The control of the head view, or of the model view, which has lenses of single heads alone. */
export function weighting(
  scope: Scope,
  state: State,
  store: Store,
  view: "head" | "model",
): Weighting {
  const lenses = () => lensesOf(state, view === "model");
  const shown = {
    get value() {
      return (view === "head" ? shownLens(state) : headLens(state)).name;
    },
    set value(lens: string) {
      state.lens.value = lens;
    },
  };
  const options = () =>
    lenses().map((lens): Option => {
      const refusal = refusalOf(state, store, lens);
      const label = refusal ? `${lens.label}: ${refusal}` : lens.label;
      return { value: lens.name, label, title: lens.description, off: refusal !== null };
    });
  const control = choice(scope, "Weighting", options, shown);
  // Reasons make some options long.
  control.classList.add("weighting");
  return {
    control,
    next() {
      const there = lenses().filter((lens) => refusalOf(state, store, lens) === null);
      const at = there.findIndex(({ name }) => name === shown.value);
      shown.value = there[(at + 1) % there.length].name;
    },
  };
}

function refusalOf(state: State, store: Store, lens: LensInfo): string | null {
  if (isAttention(lens)) return null;
  const { stack, layer } = state.shown;
  const inHead = state.view.value === "head";
  if (inHead && combinesLayers(state)) return "not of all layers as one";
  if (!inHead && store.manifest.texts !== null) return "of a single text";
  const refusal = lensRefusal(stack.value, lens);
  if (refusal || !hasMatrices(lens) || !inHead) return refusal;
  const isHere = store.stack(stack.value.name).hasNumbers(layer.value.number, lens);
  return isHere ? null : "not saved in this page";
}

const hasMatrices = ({ kind }: LensInfo): boolean => kind === "heads" || kind === "layers";

/**
 * The matrices of the lens that is shown, for the layer that is; null for a lens without any.
 *
 * To be made outside of what shows them, so that a failed answer does not cause another request.
 */
export const numbersOf = (
  state: State,
  store: Store,
  lens: () => LensInfo,
): ReadonlySignal<ReadonlySignal<Loaded<readonly LensNumbers[]>> | null> =>
  computed(() => {
    const { stack, layer } = state.shown;
    const [shown, { number }] = [lens(), layer.value];
    if (!hasMatrices(shown) || lensLack(shown, stack.value, number)) return null;
    return store.stack(stack.value.name).numbers(number, shown);
  });

/** The notice for a layer that does not have the lens, or not here; null if it has. */
export function lensNotice(data: Layer, lens: LensInfo): ViewContent | null {
  if (isAttention(lens)) return null;
  const { number } = data.info;
  const lack = lensLack(lens, data.stack, number);
  if (lack) {
    const of = lack.side && ` of ${lack.side}`;
    return notice(`Layer ${number}${of} ${lack.sentence}. Choose Attention, or another layer.`);
  }
  const sides = data instanceof DifferenceLayer ? data.sides : [data];
  if (hasMatrices(lens) || sides.every(({ whole }) => whole)) return null;
  return notice(
    `Layer ${number} is too large to be here as a whole, so it is shown by attention alone: ` +
      "capture a shorter text, or choose Attention.",
  );
}

/** The content by a lens; a notice where its numbers did not come, and null until they do. */
export function withNumbers(
  loaded: Loaded<readonly LensNumbers[]> | undefined,
  content: (numbers: readonly LensNumbers[] | undefined) => ViewContent | null,
): ViewContent | null {
  if (loaded?.status === "failed") return notice(loaded.message, "alert", loaded.absent);
  if (loaded?.status === "loading") return null;
  return content(loaded?.data);
}

/** The lens of the model view's pictures: attention where the stack does not have the chosen one. */
export function picturedLens(state: State, store: Store): LensInfo {
  const lens = headLens(state);
  return refusalOf(state, store, lens) === null ? lens : attentionOf(state);
}

/** The thumbnails of a lens that is computed here; null for one whose thumbnails travel. */
export function computedThumbnails(
  state: State,
  store: Store,
): ReadonlySignal<Loaded<ComputedThumbnails>> | null {
  const lens = picturedLens(state, store);
  if (isAttention(lens) || lens.kind !== "browser") return null;
  return store
    .stack(state.shown.stack.value.name)
    .computedThumbnails(lens, (layer, head) => lensMatrix(lens, layer, head));
}

/**
 * A remark on thumbnails that are not of attention; "" if all of these layers' are.
 *
 * @param has true if there are thumbnails of a layer by the lens
 * @param loaded those that are computed here
 */
export function picturesText(
  layers: readonly LayerInfo[],
  lens: LensInfo,
  has: (layer: LayerInfo) => boolean,
  loaded: Loaded<ComputedThumbnails> | undefined,
): string {
  if (loaded?.status === "loading") return `computing ${lens.many} …`;
  if (loaded?.status === "failed") return `pictures are of attention: ${loaded.message}`;
  if (isAttention(lens)) return "";
  const others = layers.filter((layer) => !(loaded ? loaded.data.get(layer.number) : has(layer)));
  const but = others.length ? `of attention in ${layerNames(others)}; ` : "";
  // The legend says what pictures are of that were computed.
  const of = loaded ? "" : `pictures are ${lens.label.toLowerCase()}; `;
  return `${of}${but}numbers are of attention`;
}
