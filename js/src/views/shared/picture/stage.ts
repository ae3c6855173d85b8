/** One picture: its patches as a grid for pointer and keyboard. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { middleOf, type Patches } from "../../../data/manifest.ts";
import { paintCanvas } from "../../../painting/canvas.ts";
import type { Painter } from "../../../painting/painter.ts";
import { el, setAttributes } from "../../../parts/dom.ts";
import { within } from "../../../state/state.ts";
import type { Context } from "../view.ts";
import { imageOf, type Mark, paintGrid, paintImage, paintMarks, veilOf } from "./paint.ts";
import { boxOf, patchAt, type Size } from "./places.ts";
import { shadesOf } from "./shade.ts";

interface Staged {
  readonly patches: Patches;
  /** By patch. */
  readonly tokens: Int32Array;
  readonly size: Size;
  /** Its name, and that of its cell. */
  readonly label: string;
  readonly cell: string;
  /** By token; null for the image alone. */
  readonly weights: ReadonlySignal<ArrayLike<number> | null>;
  readonly largest: (weights: ArrayLike<number>) => number;
  /** The frames of patches, and what is painted over all. */
  readonly marks: ReadonlySignal<readonly Mark[]>;
  readonly over?: ReadonlySignal<(painter: Painter) => void>;
  /** The tokens at which the reader is, and at which the keyboard was last. */
  readonly focused: ReadonlySignal<readonly number[]>;
  readonly cursor: { at: number };
  /** What is said of a token behind its place. */
  readonly said: (token: number) => string;
  readonly isLocked: (token: number) => boolean;
  readonly look: (token: number | null, event: Event) => void;
  readonly toggle: (token: number, event: MouseEvent | KeyboardEvent) => void;
  /** Moves to the first token without a patch. */
  readonly leave?: () => void;
}

export function stage({ scope, store, palette }: Context, staged: Staged): HTMLElement {
  const { patches, tokens, size, weights, marks, focused, cursor, over } = staged;
  const image = imageOf(store.manifest.images[patches.image]);
  const canvas = el("canvas", { "aria-hidden": "true" });
  // One cell is enough: that of the patch at which the reader is.
  const cell = el("div", { role: "gridcell", id: staged.cell });
  const row = el("div", { role: "row" }, cell);
  const element = el("div", {
    class: "picture-stage",
    role: "grid",
    tabindex: 0,
    "aria-label": staged.label,
    "aria-rowcount": patches.rows,
    "aria-colcount": patches.columns,
    "aria-multiselectable": "true",
  });
  element.append(canvas, row);
  const veil = computed(() => {
    const values = weights.value;
    const shades = values && shadesOf(values, tokens, staged.largest(values));
    return shades && veilOf(shades, patches, palette.value);
  });
  scope.effect(() => {
    const [shown, cover, colors] = [image.value, veil.value, palette.value];
    const [framed, above] = [marks.value, over?.value];
    paintCanvas(canvas, size.width, size.height, (painter) => {
      paintImage(painter, shown, patches, cover, size, colors);
      if (!cover) paintGrid(painter, patches, size);
      above?.(painter);
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
    setAttributes(row, { "aria-rowindex": down + 1 });
    setAttributes(cell, {
      "aria-label": `row ${down}, column ${across}${staged.said(token)}`,
      "aria-colindex": across + 1,
      "aria-selected": `${staged.isLocked(token)}`,
    });
    const { left, top, width, height } = boxOf(patch, patches, size);
    cell.style.cssText = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
  });

  const tokenAt = (event: MouseEvent) => {
    const box = element.getBoundingClientRect();
    return tokens[patchAt(event.clientX - box.left, event.clientY - box.top, patches, size)];
  };
  const look = (token: number | null, event: Event) => {
    if (token !== null && token >= 0) cursor.at = token;
    staged.look(token === -1 ? null : token, event);
  };
  const toggle = (token: number, event: MouseEvent | KeyboardEvent) => {
    if (token >= 0) staged.toggle(token, event);
  };
  element.addEventListener("pointermove", (event) => look(tokenAt(event), event));
  element.addEventListener("pointerleave", (event) => look(null, event));
  element.addEventListener("blur", (event) => look(null, event));
  element.addEventListener("click", (event) => toggle(tokenAt(event), event));
  element.addEventListener("keydown", (event) => {
    const from = current.peek() ?? patches.of[cursor.at] ?? patches.of[middleOf(patches)] ?? 0;
    const step = STEPS[event.key];
    if (step) look(next(from, step), event);
    else if (event.key === "Enter" || event.key === " ") toggle(tokens[from], event);
    else if (event.key === "C" && staged.leave) staged.leave();
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
