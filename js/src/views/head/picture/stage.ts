/** One picture: its patches as a grid for pointer and keyboard. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { middleOf, type Patches } from "../../../data/manifest.ts";
import { paintCanvas } from "../../../painting/canvas.ts";
import { el, setAttributes } from "../../../parts/dom.ts";
import { weight } from "../../../parts/text.ts";
import { cursorOf } from "../../../parts/tokens.ts";
import { type Side, within } from "../../../state/state.ts";
import { boxOf, patchAt } from "./layout.ts";
import { type Mark, paintGrid, paintImage, paintMarks, veilOf } from "./paint.ts";
import { shadesOf } from "./shade.ts";
import type { Picture, PictureSide } from "./source.ts";

export const GRID_NAMES: Readonly<Record<Side, string>> = { query: "Queries", key: "Keys" };

/**
 * @param patches the grid
 * @param leave moves to the first token without a patch
 * @param marks the frames of patches
 */
export function stage(
  picture: Picture,
  on: PictureSide,
  patches: Patches,
  marks: ReadonlySignal<readonly Mark[]>,
  leave: () => void,
): HTMLElement {
  const { scope, state, palette } = picture;
  const { side, tokens, weights, focused } = on;
  const image = picture.imageOf(patches);
  const size = picture.layout[side];
  const cursor = cursorOf(state, side);
  const canvas = el("canvas", { "aria-hidden": "true" });
  // One cell is enough: that of the patch at which the reader is.
  const cell = el("div", { role: "gridcell", id: `${side}-patch` });
  const row = el("div", { role: "row" }, cell);
  const element = el("div", {
    class: "picture-stage",
    role: "grid",
    tabindex: 0,
    "aria-label": GRID_NAMES[side],
    "aria-rowcount": patches.rows,
    "aria-colcount": patches.columns,
    "aria-multiselectable": "true",
  });
  element.append(canvas, row);
  /** Null for the image alone. */
  const veil = computed(() => {
    const values = weights.value;
    const shades = values && shadesOf(values, tokens, picture.largest(values));
    return shades && veilOf(shades, patches, palette.value);
  });
  scope.effect(() => {
    const [shown, cover, colors] = [image.value, veil.value, palette.value];
    const framed = marks.value;
    paintCanvas(canvas, size.width, size.height, (painter) => {
      paintImage(painter, shown, patches, cover, size, colors);
      if (!cover) paintGrid(painter, patches, size);
      paintMarks(painter, framed, patches, size, colors);
    });
  });

  /** The patch at which the reader is. */
  const current = computed(() => focused.value.map((token) => patches.of[token]).find(isPatch));
  scope.effect(() => {
    const patch = current.value;
    setAttributes(element, { "aria-activedescendant": patch !== undefined && cell.id });
    row.hidden = patch === undefined;
    if (patch === undefined) return;
    const [down, across] = [Math.floor(patch / patches.columns), patch % patches.columns];
    const token = tokens[patch];
    const value =
      weights.value && `, weight ${weight(weights.value[token], picture.rounding(token))}`;
    setAttributes(row, { "aria-rowindex": down + 1 });
    setAttributes(cell, {
      "aria-label": `row ${down}, column ${across}${value ?? ""}`,
      "aria-colindex": across + 1,
      "aria-selected": `${on.locked.value.includes(token)}`,
    });
    const { left, top, width, height } = boxOf(patch, patches, size);
    Object.assign(cell.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${width}px`,
      height: `${height}px`,
    });
  });

  const tokenAt = (event: MouseEvent) => {
    const box = element.getBoundingClientRect();
    return tokens[patchAt(event.clientX - box.left, event.clientY - box.top, patches, size)];
  };
  const look = (token: number | null) => {
    if (token === -1) return on.pointAt(null);
    if (token !== null) cursor.at = token;
    on.pointAt(token);
  };
  const toggle = (token: number, event: MouseEvent | KeyboardEvent) => {
    if (token >= 0) on.toggle(token, event);
  };
  element.addEventListener("pointermove", (event) => look(tokenAt(event)));
  element.addEventListener("pointerleave", () => look(null));
  element.addEventListener("blur", () => look(null));
  element.addEventListener("click", (event) => toggle(tokenAt(event), event));
  element.addEventListener("keydown", (event) => {
    const from = current.peek() ?? patches.of[cursor.at] ?? patches.of[middleOf(patches)] ?? 0;
    const step = STEPS[event.key];
    if (step) look(next(from, step));
    else if (event.key === "Enter" || event.key === " ") toggle(tokens[from], event);
    else if (event.key === "C") leave();
    else return;
    event.preventDefault();
  });
  return element;

  /** The next token in a direction, past patches without one; at the edge, that of the patch. */
  function next(from: number, [down, across]: readonly [number, number]): number {
    const { rows, columns } = patches;
    for (let n = 1; n < Math.max(rows, columns); n++) {
      const row = within(Math.floor(from / columns) + n * down, rows);
      const token = tokens[row * columns + within((from % columns) + n * across, columns)];
      if (token >= 0) return token;
    }
    return tokens[from];
  }
}

const STEPS: Readonly<Record<string, readonly [down: number, across: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

const isPatch = (patch: number | null): patch is number => patch !== null;
