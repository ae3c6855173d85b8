/** Goes through the strongest links of a matrix. */

import { batch, type ReadonlySignal, signal, untracked } from "@preact/signals-core";
import { button, el } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { seek } from "../../state/locks.ts";
import type { State } from "../../state/state.ts";
import { type Axes, placeOf } from "../shared/axes.ts";
import type { HeadContent } from "../shared/heads/words.ts";
import { LIMIT, type Link, strongestLinks } from "../shared/links.ts";

/** The most tokens of a text whose strongest links can be seen without a search. */
const SHORT = 64;

const TITLE =
  "Strongest links between two tokens of the matrix: j, Shift+J. Left out are those of a token to " +
  "itself, to the first, and from or to special tokens.";

/** The control, and a function that locks the link `by` places after the current one. */
export function jump(scope: Scope, state: State, shownMatrix: ReadonlySignal<HeadContent | null>) {
  const links = signal<readonly Link[] | null>(null);
  /** The share of the matrix that is searched, 0 to 1; null before the search. */
  const done = signal<number | null>(null);
  const at = signal(-1);
  let stop = () => {};

  const count = el("span", { class: "count", "aria-live": "polite" });
  const element = el(
    "div",
    { class: "control stepper", role: "group", "aria-label": "Strongest links", title: TITLE },
    el("span", { class: "label", "aria-hidden": "true" }, "Top links"),
    button({ "aria-label": "Previous link" }, "◂", () => go(-1)),
    count,
    button({ "aria-label": "Next link" }, "▸", () => go(1)),
  );

  function go(by: 1 | -1): void {
    const shown = shownMatrix.peek();
    if (links.peek()) show(by);
    // The links of an overview are not known; a running search goes on.
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
    const [found, shown] = [links.peek(), shownMatrix.peek()];
    if (!found?.length || !shown) return;
    const from = at.peek() < 0 && by < 0 ? 0 : at.peek();
    const to = (from + by + found.length) % found.length;
    batch(() => {
      at.value = to;
      seek(state, placeOf(shown.axes, found[to].query, found[to].key));
    });
  }

  scope.effect(() => {
    shownMatrix.value?.matrix.value;
    // Another matrix has other links.
    stop();
    batch(() => {
      links.value = null;
      done.value = null;
      at.value = -1;
    });
  });
  scope.effect(() => {
    const shown = shownMatrix.value;
    // The links of an overview are not known.
    const isKnown = shown?.matrix.value.overview === undefined;
    element.hidden = !shown || !isKnown || (isShort(shown.axes) && done.value === null);
  });
  scope.effect(() => {
    const found = links.value;
    if (done.value === null) count.textContent = `– of ${LIMIT}`;
    else if (!found) count.textContent = `${Math.floor(100 * done.value)}%`;
    else count.textContent = found.length ? `${at.value + 1} of ${found.length}` : "none";
  });
  scope.onEnd(() => stop());
  return { element, go };
}

const isShort = ({ query, key }: Axes) => Math.max(query.shown.length, key.shown.length) <= SHORT;
