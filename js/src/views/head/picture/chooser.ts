/** The grids of patches on all images and crops, small: each with its share, and a click shows it. */

import { computed } from "@preact/signals-core";
import { paintCanvas } from "../../../painting/canvas.ts";
import { el, setAttributes } from "../../../parts/dom.ts";
import { percent } from "../../../parts/text.ts";
import { within } from "../../../state/state.ts";
import { marksOf, paintImage, paintMarks, veilOf } from "./paint.ts";
import { shadesOf, tokensOf } from "./shade.ts";
import type { Picture } from "./source.ts";

/** The height of each in CSS pixels, and its largest width. */
const HEIGHT = 56;
const MOST = 112;

/** @returns null where there is nothing to choose */
export function chooser(picture: Picture, shown: number): HTMLElement | null {
  const { scope, state, palette, main, onMain, side, from, itself } = picture;
  const grids = picture.gridsOf(main);
  if (grids.length < 2) return null;
  const weights = computed(() => (onMain.value ? picture.weights.value : null));
  const total = computed(() => weights.value?.reduce((sum, weight) => sum + weight, 0) ?? 0);
  const largest = computed(() => weights.value && picture.largest(weights.value));
  const options = grids.map((grid, at) => {
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
    const image = picture.imageOf(grid);
    const tokens = tokensOf(grid);
    scope.effect(() => {
      const [values, most, colors] = [weights.value, largest.value, palette.value];
      const veil = values && veilOf(shadesOf(values, tokens, most ?? 0), grid, colors);
      const own = side.value === main ? from.value : itself.value;
      const marks = marksOf(own, grid, colors.accent, 1.5);
      paintCanvas(canvas, size.width, size.height, (painter) => {
        paintImage(painter, image.value, grid, veil, size, colors);
        paintMarks(painter, marks, grid, size, colors);
      });
      const part = values ? tokens.reduce((sum, token) => sum + (values[token] ?? 0), 0) : 0;
      share.textContent = total.value ? percent(part / total.value) : "";
      setAttributes(option, { "aria-label": `${name} ${share.textContent}` });
    });
    return option;
  });
  const list = el("div", {
    class: "grids",
    role: "listbox",
    tabindex: 0,
    "aria-label": "Images",
    "aria-orientation": "horizontal",
    "aria-activedescendant": `grid-${shown}`,
  });
  list.append(...options);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -grids.length, End: grids.length }[
      event.key
    ];
    if (step === undefined) return;
    event.preventDefault();
    choose(within(shown + step, grids.length));
  });
  // When the list is in the page.
  queueMicrotask(() => {
    const [{ offsetLeft, offsetWidth }, { clientWidth }] = [options[shown], list];
    list.scrollLeft = offsetLeft + offsetWidth / 2 - clientWidth / 2;
  });

  function choose(at: number): void {
    state.grid.value = at;
  }
  return list;
}
