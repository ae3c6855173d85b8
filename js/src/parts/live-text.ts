/**
 * Text that follows the pointer. While something is hovered, it is painted in its place, because new
 * text takes a layout with every move; else it is text.
 */

import { paintCanvas } from "../painting/canvas.ts";
import { el } from "./dom.ts";

export interface LiveText {
  /** Shows the painted text inside an element of the class "hovered". */
  readonly element: HTMLElement;
  paint(text: string): void;
}

/** The height of the painted line in CSS pixels. */
const HEIGHT = 18;

/** @param width the most width of the text in CSS pixels */
export function liveText(text: string, width: number): LiveText {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const element = el("span", { class: "live" }, text, canvas);
  paintCanvas(canvas, width, HEIGHT, () => {});
  let style: { readonly font: string; readonly color: string; readonly line: number } | null = null;
  return {
    element,
    paint(text) {
      style ??= styleOf(element);
      const { font, color, line } = style;
      paintCanvas(canvas, width, HEIGHT, (painter) => {
        painter.font = font;
        painter.fillStyle = color;
        const metrics = painter.measureText(text);
        const above = Math.round(metrics.fontBoundingBoxAscent);
        const below = Math.round(metrics.fontBoundingBoxDescent);
        // On whole pixels, as browsers lay out text.
        painter.fillText(text, 0, Math.floor((line - above - below) / 2) + above);
      });
    },
  };
}

function styleOf(element: HTMLElement) {
  const { fontWeight, fontSize, fontFamily, color, lineHeight } = getComputedStyle(element);
  return {
    font: `${fontWeight} ${fontSize} ${fontFamily}`,
    color,
    line: Number.parseFloat(lineHeight),
  };
}
