/** From one of a head's strongest links to the next. */

import { batch, type ReadonlySignal, signal, untracked } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import { el } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { lock } from "../../state/locks.ts";
import type { State } from "../../state/state.ts";
import { type Axes, placeOf } from "../shared/axes.ts";
import { isLong } from "../shared/columns.ts";
import { KEPT, type Link, strongestLinks } from "./links.ts";

export interface Jump {
  readonly element: HTMLElement;
  /** Lock the link that is `by` links after this one. */
  go(by: 1 | -1): void;
}

/** A matrix, and what its sides stand for. */
export interface ShownMatrix {
  readonly axes: Axes;
  readonly matrix: ReadonlySignal<AttentionMatrix>;
}

const WHAT =
  "Strongest links between two tokens of the matrix: j, Shift+J. Left out are those of a token to " +
  "itself, to the first, and from or to special tokens.";

export function jump(
  scope: Scope,
  state: State,
  pictured: ReadonlySignal<ShownMatrix | null>,
): Jump {
  const links = signal<readonly Link[] | null>(null);
  /** How much of the matrix is looked through, 0 to 1; null before it is asked for. */
  const done = signal<number | null>(null);
  const at = signal(-1);
  let stop = () => {};

  const count = el("span", { class: "count", "aria-live": "polite" });
  const button = (sign: string, name: string, by: 1 | -1) => {
    const made = el("button", { type: "button", "aria-label": name }, sign);
    made.addEventListener("click", () => go(by));
    return made;
  };
  const element = el(
    "div",
    { class: "control stepper", role: "group", "aria-label": "Strongest links", title: WHAT },
    el("span", { class: "label", "aria-hidden": "true" }, "Top links"),
    button("◂", "Previous link", -1),
    count,
    button("▸", "Next link", 1),
  );

  function go(by: 1 | -1): void {
    const shown = pictured.peek();
    if (links.peek()) show(by);
    // A second press waits for what the first one asked for.
    if (!shown || shown.matrix.peek().overview || done.peek() !== null) return;
    stop = untracked(() =>
      strongestLinks(shown.matrix.value, shown.axes, (part, found) => {
        done.value = part;
        if (part < 1) return;
        links.value = found;
        show(by);
      }),
    );
  }

  function show(by: number): void {
    const [found, shown] = [links.peek(), pictured.peek()];
    if (!found?.length || !shown) return;
    const from = at.peek() < 0 && by < 0 ? 0 : at.peek();
    const to = (from + by + found.length) % found.length;
    const place = placeOf(shown.axes, found[to].query, found[to].key);
    batch(() => {
      at.value = to;
      state.hover.value = null;
      lock(state, place);
      state.sought.value = place;
    });
  }

  scope.effect(() => {
    pictured.value?.matrix.value;
    // Of another head, they are others.
    stop();
    batch(() => {
      links.value = null;
      done.value = null;
      at.value = -1;
    });
  });
  scope.effect(() => {
    const shown = pictured.value;
    // Of what is not all here, nobody knows them. In a short text, they are seen at once.
    const known = shown?.matrix.value.overview === undefined;
    element.hidden = !shown || !known || (!isLong(shown.axes) && done.value === null);
  });
  scope.effect(() => {
    const found = links.value;
    if (done.value === null) count.textContent = `– of ${KEPT}`;
    else if (!found) count.textContent = `${Math.floor(100 * done.value)}%`;
    else count.textContent = found.length ? `${at.value + 1} of ${found.length}` : "none";
  });
  scope.onEnd(() => stop());
  return { element, go };
}
