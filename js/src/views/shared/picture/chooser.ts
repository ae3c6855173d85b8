/** The grids of patches on images and crops, small: each with its share, and a click shows it. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Patches } from "../../../data/manifest.ts";
import { paintCanvas } from "../../../painting/canvas.ts";
import { el } from "../../../parts/dom.ts";
import { percent } from "../../../parts/text.ts";
import { within } from "../../../state/state.ts";
import type { Context } from "../view.ts";
import { imageOf, type Mark, paintImage, paintMarks, veilOf } from "./paint.ts";
import { shadesOf, tokensOf } from "./shade.ts";

/** The height of each in CSS pixels, and its largest width. */
const HEIGHT = 56;
const MOST = 112;

/** A grid, and its number through all of them. */
export interface Numbered {
  readonly at: number;
  readonly grid: Patches;
}

interface Grids {
  readonly label: string;
  readonly grids: readonly Numbered[];
  /** The number of the one that is shown. */
  readonly shown: number;
  /** By token; null for none. */
  readonly weights: ReadonlySignal<ArrayLike<number> | null>;
  /** The weights of full and of all shares. */
  readonly largest: ReadonlySignal<number>;
  readonly total: ReadonlySignal<number>;
  readonly marks: (grid: Patches) => readonly Mark[];
}

/** @returns null where there is nothing to choose */
export function chooser(
  { scope, state, store, palette }: Context,
  { label, grids, shown, weights, largest, total, marks }: Grids,
): HTMLElement | null {
  if (grids.length < 2) return null;
  const options = grids.map(({ at, grid }) => {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const share = el("b", {});
    const name = grid.name || `${at + 1}`;
    const option = el("div", {
      role: "option",
      id: `grid-${at}`,
      "aria-selected": `${at === shown}`,
    });
    option.append(canvas, el("span", {}, name), share);
    option.addEventListener("click", () => choose(at));
    const height = Math.round(Math.min(HEIGHT, MOST / grid.aspect));
    const size = { width: Math.round(height * grid.aspect), height };
    const image = imageOf(store.manifest.images[grid.image]);
    const tokens = tokensOf(grid);
    scope.effect(() => {
      const [values, colors] = [weights.value, palette.value];
      const veil = values && veilOf(shadesOf(values, tokens, largest.value), grid, colors);
      const framed = marks(grid);
      paintCanvas(canvas, size.width, size.height, (painter) => {
        paintImage(painter, image.value, grid, veil, size, colors);
        paintMarks(painter, framed, grid, size, colors);
      });
      share.textContent = values && total.value ? percent(sumOf(values, tokens) / total.value) : "";
    });
    return option;
  });
  const current = grids.findIndex(({ at }) => at === shown);
  const list = el("div", {
    class: "grids",
    role: "listbox",
    tabindex: 0,
    "aria-label": label,
    "aria-orientation": "horizontal",
    "aria-activedescendant": `grid-${shown}`,
  });
  list.append(...options);
  const [first, last] = [-grids.length, grids.length];
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: first, End: last };
  list.addEventListener("keydown", (event) => {
    const step = Object.hasOwn(steps, event.key) && steps[event.key as keyof typeof steps];
    if (!step) return;
    event.preventDefault();
    choose(grids[within(current + step, grids.length)].at);
  });
  // When the list is in the page.
  queueMicrotask(() => {
    const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = options[current];
    list.scrollLeft = offsetLeft + offsetWidth / 2 - list.clientWidth / 2;
    list.scrollTop = offsetTop + offsetHeight / 2 - list.clientHeight / 2;
  });

  function choose(at: number): void {
    state.grid.value = at;
  }
  return list;
}

/** The weights of the tokens on a grid. */
const sumOf = (weights: ArrayLike<number>, tokens: Int32Array): number =>
  tokens.reduce((sum, token) => sum + (weights[token] ?? 0), 0);
