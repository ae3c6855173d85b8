/** The title of a matrix: whose it is, which part is shown, and the zoom buttons. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../../data/attention-matrix.ts";
import { button, el } from "../../../parts/dom.ts";
import { fontOf, numberOf, textMeasure } from "../../../parts/text.ts";
import type { Scope } from "../../../scheduling/scope.ts";
import type { Axes, Axis } from "../axes.ts";
import type { Gestures } from "./gestures.ts";
import { columnsOf, LARGEST_CELL, rowsOf, type Span, type Viewport } from "./viewport.ts";

const LINE = 1.4;
const BUTTONS = 126;
/** The least width with the buttons beside the text. */
const BESIDE_FROM = 300;
/** The allowance for line breaks between words, and for longer numbers. */
const ALLOWANCE = 1.15;

/**
 * @param words which part is shown, and how
 * @param zoom the actions of the buttons; null if the matrix cannot be zoomed
 */
export function matrixTitle(
  scope: Scope,
  title: ReadonlySignal<string>,
  words: ReadonlySignal<string>,
  viewport: ReadonlySignal<Viewport>,
  zoom: Gestures | null,
  width: number,
): HTMLElement {
  const text = el("div");
  const element = el("div", { class: "title" }, text);
  const longest = textMeasure(fontOf(13))(`${title.peek()}  ${words.peek()}`);
  scope.effect(() => {
    const name = title.value;
    text.replaceChildren(...(name ? [el("strong", {}, name), "  "] : []), words.value);
  });
  if (zoom) {
    const named = (name: string) => ({ "aria-label": name, title: name });
    const out = button(named("Zoom out"), "−", zoom.further);
    const near = button(named("Zoom in"), "+", zoom.nearer);
    const whole = button(named("Whole matrix"), "whole", zoom.whole);
    const group = { class: "zoom", role: "group", "aria-label": "Zoom" };
    element.append(el("div", group, out, near, whole));
    element.classList.add("zoomable");
    const beside = width >= BESIDE_FROM;
    element.classList.toggle("narrow", !beside);
    // Keep the height for shorter texts, so that the matrix does not move under the pointer.
    const lines = Math.ceil((ALLOWANCE * longest) / (beside ? width - BUTTONS : width));
    text.style.minHeight = `${lines * LINE}em`;
    scope.effect(() => {
      // Not "disabled", with which the pressed button would lose the focus.
      for (const element of [out, whole])
        element.setAttribute("aria-disabled", `${viewport.value.isWhole}`);
      near.setAttribute("aria-disabled", `${viewport.value.cell >= LARGEST_CELL}`);
    });
  }
  return element;
}

/**
 * @param pooled the most cells along either side of a pixel
 * @param peak the number that has the full shade
 */
export function describe(
  { query, key }: Axes,
  viewport: Viewport,
  pooled: number,
  peak: number,
  { lens, difference, largestRounding }: AttentionMatrix,
): string {
  const [rows, columns] = viewport.isWhole
    ? [`rows: ${query.title}`, `columns: ${key.title}`]
    : [
        `${query.title} ${range(query, rowsOf(viewport))}`,
        `${key.title} ${range(key, columnsOf(viewport))}`,
      ];
  const most = pooled > 1 ? ` · each pixel the largest of up to ${pooled} × ${pooled}` : "";
  const sign = lens.signed ? `blue above 0, orange below: √|${lens.one}|` : `√${lens.one}`;
  const shade = difference ? "blue more, orange less in B: √|B − A|" : sign;
  // A magnitude has no sign.
  const full = numberOf({ lens, difference: false }, peak, largestRounding);
  return `${rows} · ${columns}\xa0· shade: ${shade} ≤ ${full}${most}`;
}

const range = ({ shown }: Axis, { first, end }: Span) => `${shown[first]}–${shown[end - 1]}`;
