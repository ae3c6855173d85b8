/** Goes through the keys of the explained query, strongest first. */

import { batch, type ReadonlySignal } from "@preact/signals-core";
import { largestFirst } from "../../data/neurons.ts";
import { button } from "../../parts/dom.ts";
import type { State } from "../../state/state.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import type { Rows } from "./rows.ts";

/** Lock the explained query and its strongest key, then the next strongest; -1 goes back. */
export type Step = (by: 1 | -1) => void;

export interface Strongest {
  readonly go: Step;
  /** True if the text is long, so that most keys are out of sight. */
  readonly long: boolean;
}

export function strongestKeys(state: State, analysis: QueryAnalysis, rows: Rows): Strongest {
  const { shown, places } = analysis;
  const go: Step = (by) => {
    const { query, original } = analysis.explanation.peek();
    const order = largestFirst(shown.keys.map((key) => original.weights[key]));
    const ranked = order.map((at) => shown.keys[at]).filter((key) => original.weights[key] > 0);
    if (!ranked.length) return;
    const current = state.query.peek() === query ? ranked.indexOf(state.key.peek() ?? -1) : -1;
    const next = current < 0 ? 0 : (current + by + ranked.length) % ranked.length;
    batch(() => {
      // The pointer may rest on another key.
      state.hover.value = null;
      if (state.query.peek() !== query) state.also.value = [];
      state.query.value = query;
      state.key.value = ranked[next];
    });
    rows.reveal(places.key[ranked[next]]);
  };
  return { go, long: rows.long };
}

/** @param step null without keys */
export function strongestButton(step: ReadonlySignal<Strongest | null>): HTMLElement {
  const title =
    "Lock the strongest key of this query, then the next: j; Shift+J for the one before";
  return button({ class: "control toggle", title }, "Strongest key", (event) =>
    step.peek()?.go(event.shiftKey ? -1 : 1),
  );
}
