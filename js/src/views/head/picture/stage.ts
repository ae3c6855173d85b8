/** One picture: its patches as a grid for pointer and keyboard. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { middleOf, type Patches } from "../../../data/manifest.ts";
import { paintCanvas } from "../../../painting/canvas.ts";
import { el, setAttributes } from "../../../parts/dom.ts";
import { weight } from "../../../parts/text.ts";
import type { Scope } from "../../../scheduling/scope.ts";
import type { Side } from "../../../state/state.ts";
import type { Palette } from "../../../styles/palette.ts";
import { boxOf, patchAt, type Size } from "./layout.ts";
import { type Mark, paintGrid, paintImage, paintMarks, veilOf } from "./paint.ts";
import { type Shades, tokensOf } from "./shade.ts";

/** The tokens on one side, as the patches of a picture and the tokens beside it show them. */
export interface PictureSide {
  readonly side: Side;
  /** By token; null for none. */
  readonly weights: ReadonlySignal<Float32Array | null>;
  /** A bound of the difference between a token's weight and the record's. */
  rounding(token: number): number;
  readonly focused: ReadonlySignal<readonly number[]>;
  readonly locked: ReadonlySignal<readonly number[]>;
  pointAt(token: number | null): void;
  toggle(token: number, event: MouseEvent | KeyboardEvent): void;
}

export interface StageOptions extends PictureSide {
  readonly patches: Patches;
  readonly size: Size;
  readonly image: ReadonlySignal<HTMLCanvasElement | null>;
  readonly palette: ReadonlySignal<Palette>;
  /** The shades of the patches; null for the image alone. */
  readonly shades: ReadonlySignal<Shades | null>;
  readonly marks: ReadonlySignal<readonly Mark[]>;
  /** Moves to the first token without a patch. */
  leave(): void;
  /** The last position of the keyboard, where it continues. */
  readonly cursor: { at: number };
}

export const GRID_NAMES: Readonly<Record<Side, string>> = { query: "Queries", key: "Keys" };

export function stage(scope: Scope, options: StageOptions): HTMLElement {
  const { side, patches, size, image, palette, shades, weights, focused } = options;
  const tokens = tokensOf(patches);
  const canvas = el("canvas", { "aria-hidden": "true" });
  // One cell is enough: that of the patch at which the reader is.
  const cell = el("div", { role: "gridcell", id: `${side}-patch` });
  const row = el("div", { role: "row" }, cell);
  const element = el(
    "div",
    {
      class: "picture-stage",
      role: "grid",
      tabindex: 0,
      "aria-label": GRID_NAMES[side],
      "aria-rowcount": patches.rows,
      "aria-colcount": patches.columns,
      "aria-multiselectable": "true",
    },
    canvas,
    row,
  );
  const veil = computed(() => shades.value && veilOf(shades.value.values, patches, palette.value));
  scope.effect(() => {
    const [picture, cover, marks, colors] = [
      image.value,
      veil.value,
      options.marks.value,
      palette.value,
    ];
    paintCanvas(canvas, size.width, size.height, (painter) => {
      paintImage(painter, picture, cover, size, colors);
      if (!cover) paintGrid(painter, patches, size);
      paintMarks(painter, marks, patches, size, colors);
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
      weights.value && `, weight ${weight(weights.value[token], options.rounding(token))}`;
    setAttributes(row, { "aria-rowindex": down + 1 });
    setAttributes(cell, {
      "aria-label": `row ${down}, column ${across}${value ?? ""}`,
      "aria-colindex": across + 1,
      "aria-selected": `${options.locked.value.includes(token)}`,
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
    if (token !== null) options.cursor.at = token;
    options.pointAt(token);
  };
  element.addEventListener("pointermove", (event) => look(tokenAt(event)));
  element.addEventListener("pointerleave", () => look(null));
  element.addEventListener("blur", () => look(null));
  element.addEventListener("click", (event) => {
    options.toggle(tokenAt(event), event);
  });
  element.addEventListener("keydown", (event) => {
    const from = current.peek() ?? patches.of[options.cursor.at] ?? middleOf(patches);
    const step = STEPS[event.key];
    if (step) {
      const rowTo = Math.floor(from / patches.columns) + step[0];
      const columnTo = (from % patches.columns) + step[1];
      const inside = (at: number, count: number) => Math.max(0, Math.min(count - 1, at));
      const to = inside(rowTo, patches.rows) * patches.columns + inside(columnTo, patches.columns);
      look(tokens[to]);
    } else if (event.key === "Enter" || event.key === " ") {
      options.toggle(tokens[from], event);
    } else if (event.key === "C") options.leave();
    else return;
    event.preventDefault();
  });
  return element;
}

const STEPS: Readonly<Record<string, readonly [down: number, across: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

const isPatch = (patch: number | null): patch is number => patch !== null;
