/** The line above a matrix: whose it is, which part of it is shown and how, and what zooms it. */

import type { ReadonlySignal } from "@preact/signals-core";
import { el } from "../../../parts/dom.ts";
import { textMeasure } from "../../../parts/text.ts";
import type { Scope } from "../../../scheduling/scope.ts";
import type { Axes, Axis } from "../axes.ts";
import { columnsOf, LARGEST_CELL, rowsOf, type Span, type Viewport } from "./viewport.ts";

export interface TitleOptions {
  readonly title: ReadonlySignal<string>;
  readonly words: ReadonlySignal<string>;
  readonly viewport: ReadonlySignal<Viewport>;
  /** What its buttons do; null where there is nothing to zoom. */
  readonly zoom: ZoomActions | null;
  /** In CSS pixels. */
  readonly width: number;
}

const FONT = "13px system-ui, sans-serif";
const LINE = 1.4;
/** What the buttons take of the width. */
const BUTTONS = 126;
/** Lines end where words do, and numbers get longer. */
const ROOMY = 1.15;

export interface ZoomActions {
  nearer(): void;
  further(): void;
  whole(): void;
}

export function matrixTitle(scope: Scope, options: TitleOptions): HTMLElement {
  const { title, words, viewport, zoom, width } = options;
  const text = el("div");
  const element = el("div", { class: "title" }, text);
  const longest = textMeasure(FONT)(`${title.peek()}  ${words.peek()}`);
  scope.effect(() => {
    const of = title.value;
    text.replaceChildren(...(of ? [el("strong", {}, of), "  "] : []), words.value);
  });
  if (zoom) {
    const out = button("Zoom out", "−", zoom.further);
    const near = button("Zoom in", "+", zoom.nearer);
    const whole = button("Whole matrix", "whole", zoom.whole);
    const buttons = el("div", { class: "zoom", role: "group", "aria-label": "Zoom" });
    buttons.append(out, near, whole);
    element.append(buttons);
    element.classList.add("zoomable");
    // Words of another part may be shorter; what is pointed at stays where it is.
    const lines = Math.ceil((ROOMY * longest) / (width - BUTTONS));
    text.style.minHeight = `${lines * LINE}em`;
    scope.effect(() => {
      // Not "disabled", which would take the focus away from who zooms with them.
      for (const one of [out, whole])
        one.setAttribute("aria-disabled", `${viewport.value.isWhole}`);
      near.setAttribute("aria-disabled", `${viewport.value.cell >= LARGEST_CELL}`);
    });
  }
  return element;
}

function button(name: string, content: string, act: () => void): HTMLElement {
  const made = el("button", { type: "button", "aria-label": name, title: name }, content);
  made.addEventListener("click", act);
  return made;
}

/** @param pooled cells along either side of a pixel, at the most. */
export function describe({ query, key }: Axes, viewport: Viewport, pooled: number): string {
  const [rows, columns] = viewport.isWhole
    ? ["rows: queries", "columns: keys"]
    : [`queries ${range(query, rowsOf(viewport))}`, `keys ${range(key, columnsOf(viewport))}`];
  const most = pooled > 1 ? ` · each pixel the largest of up to ${pooled} × ${pooled}` : "";
  return `${rows} · ${columns} · shade: √weight${most}`;
}

const range = ({ shown }: Axis, { first, end }: Span) => `${shown[first]}–${shown[end - 1]}`;
