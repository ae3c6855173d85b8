/** The weighting of heads: its control, and the notice where a layer does not have it. */

import type { ReadonlySignal } from "@preact/signals-core";
import { DifferenceLayer } from "../../data/difference-layer.ts";
import type { Layer } from "../../data/layer.ts";
import { hasNorms, type LayerInfo } from "../../data/manifest.ts";
import type { Loaded } from "../../data/resource-cache.ts";
import type { ScoreThumbnails } from "../../data/score-thumbnails.ts";
import type { Store } from "../../data/store.ts";
import { choice, type Option } from "../../parts/choice.ts";
import { layerNames } from "../../parts/fidelity.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { type Lens, SCHEMA } from "../../state/choices.ts";
import { headLens, lensRefusal, shownLens } from "../../state/lens.ts";
import type { State } from "../../state/state.ts";
import { combinesLayers } from "./heads/matrices.ts";
import { notice } from "./layer-view.ts";
import type { ViewContent } from "./view.ts";

/** The name of each, and what its numbers are. */
export const LENSES: Readonly<Record<Lens, { readonly label: string; readonly title: string }>> = {
  attention: { label: "Attention", title: "The weights, which the softmax gives" },
  scores: { label: "Scores", title: "The numbers that go into the softmax" },
  values: { label: "Value-weighted", title: "‖w f(x)‖ as a share of its row" },
  rollout: {
    label: "Rollout",
    title: "(A + I) / 2 of all layers up to this one, A the mean of heads, multiplied",
  },
};

export interface Weighting {
  readonly control: HTMLElement;
  /** Choose the next weighting that this stack has. */
  next(): void;
}

/** The control of the head view, or of the model view, which has no rollout. */
export function weighting(
  scope: Scope,
  state: State,
  store: Store,
  view: "head" | "model",
): Weighting {
  const lenses = SCHEMA.lens.options.filter((lens) => view === "head" || lens !== "rollout");
  const shown = {
    get value() {
      return view === "head" ? shownLens(state) : headLens(state);
    },
    set value(lens: Lens) {
      state.lens.value = lens;
    },
  };
  const options = () =>
    lenses.map((lens): Option => {
      const { label, title } = LENSES[lens];
      const refusal = refusalOf(state, store, lens);
      const name = refusal ? `${label}: ${refusal}` : label;
      return { value: lens, label: name, title, off: refusal !== null };
    });
  const control = choice(scope, "Weighting", options, shown);
  // Reasons make some options long.
  control.classList.add("weighting");
  return {
    control,
    next() {
      const there = lenses.filter((lens) => refusalOf(state, store, lens) === null);
      shown.value = there[(there.indexOf(shown.value) + 1) % there.length];
    },
  };
}

function refusalOf(state: State, store: Store, lens: Lens): string | null {
  const stack = state.shown.stack.value;
  const inHead = state.view.value === "head";
  if (lens !== "attention" && inHead && combinesLayers(state)) return "not of all layers as one";
  if (lens === "scores" && !inHead && store.manifest.texts !== null) return "of a single text";
  const refusal = lensRefusal(stack, lens);
  if (refusal || lens !== "rollout") return refusal;
  return store.hasRollout(stack.name) ? null : "not saved in this page";
}

/** The notice for a layer that does not have the chosen weighting; null if it has. */
export function lensNotice(data: Layer, lens: Lens): ViewContent | null {
  if (lens === "attention") return null;
  if (data.stack.difference && lens !== "scores") {
    return notice(`${LENSES[lens].label} is ${lensRefusal(data.stack, lens)}: choose one of them.`);
  }
  if (lens === "rollout") {
    const refusal = lensRefusal(data.stack, lens);
    return refusal === null ? null : notice(`No rollout: ${refusal}. Choose Attention.`);
  }
  const { number } = data.info;
  const sides = data instanceof DifferenceLayer ? data.sides : [data];
  if (sides.some(({ whole }) => !whole)) {
    return notice(
      `Layer ${number} is too large to be here as a whole, so it is shown by attention alone: ` +
        "capture a shorter text, or choose Attention.",
    );
  }
  if (lens === "scores") {
    const alone = sides.findIndex(({ info }) => !info.program);
    const of = data.stack.difference ? ` of ${"AB"[alone]}` : "";
    return alone < 0
      ? null
      : notice(
          `Layer ${number}${of} was recorded as weights alone, so its scores are not known. Choose ` +
            "Attention, or another layer.",
        );
  }
  if (hasNorms(data.info)) return null;
  return notice(
    data.info.norms_need === "projection"
      ? `The output projection of layer ${number} was not found, so what a value adds to its ` +
          "output is not known. Choose Attention, or another layer."
      : `Layer ${number} has no values. Capture with values=True, or choose Attention.`,
  );
}

/** The thumbnails of scores if the model view shows them; null if it shows others. */
export function shownScores(
  state: State,
  store: Store,
): ReadonlySignal<Loaded<ScoreThumbnails>> | null {
  const stack = state.shown.stack.value;
  const chosen = headLens(state) === "scores" && refusalOf(state, store, "scores") === null;
  return chosen ? store.scoreThumbnails(stack.name) : null;
}

/**
 * A remark on thumbnails that are not of attention; "" if all of these layers' are.
 *
 * @param scores the thumbnails of scores, if they are shown
 */
export function weightedText(
  layers: readonly LayerInfo[],
  lens: Lens,
  scores: Loaded<ScoreThumbnails> | undefined,
): string {
  if (scores?.status === "loading") return "computing scores …";
  if (scores?.status === "failed") return `pictures are of attention: ${scores.message}`;
  if (lens !== "values" && !scores) return "";
  const others = layers.filter((layer) =>
    scores ? !scores.data.get(layer.number) : !hasNorms(layer),
  );
  const but = others.length ? `of attention in ${layerNames(others)}; ` : "";
  // The legend says what pictures of scores are.
  return `${scores ? but : `pictures are value-weighted; ${but}`}numbers are of attention`;
}
