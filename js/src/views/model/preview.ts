/** A larger picture of one head and its numbers, beside its cell in the model view. */

import { paintCanvas } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import type { Box } from "./thumbnail.ts";

export interface Preview {
  readonly title: string;
  /** What the head mostly does, in words. */
  readonly pattern: string;
  /** Width by height of the picture. */
  readonly aspect: number;
  paint(painter: Painter, ratio: number, box: Box): void;
  readonly numbers: HTMLElement;
  readonly cell: Element;
  /** What it must not leave, with its padding. */
  readonly scroller: Element;
}

/** Width of the picture and of the numbers below it. */
const WIDTH = 206;
const SMALLEST = 60;
/** Between the preview and its cell. */
const GAP = 10;
/** Height of everything else in the preview: title, numbers, frame. */
const AROUND = 190;

/** Fill `panel` and place it, within its parent, on the side of the cell where there is room. */
export function showPreview(panel: HTMLElement, preview: Preview): void {
  const stage = panel.parentElement ?? panel;
  const [x, y, cellWidth] = boxOf(preview.cell, stage);
  const [left, top, width, height] = roomOf(preview.scroller, stage);
  const [end, bottom] = [left + width, top + height];
  const tallest = Math.max(SMALLEST, Math.min(WIDTH, height - AROUND));
  const across = Math.min(WIDTH, tallest * preview.aspect);
  const size = [across, across / preview.aspect] as const;
  const canvas = el("canvas");
  paintCanvas(canvas, ...size, (painter, ratio) => preview.paint(painter, ratio, [0, 0, ...size]));
  panel.replaceChildren(
    el("div", { class: "title" }, el("strong", {}, preview.title), el("br"), preview.pattern),
    canvas,
    preview.numbers,
  );
  panel.style.width = `${WIDTH}px`;
  const [ownWidth, ownHeight] = [panel.offsetWidth, panel.offsetHeight];
  const right = x + cellWidth + GAP;
  panel.style.left = `${Math.max(left, right + ownWidth <= end ? right : x - GAP - ownWidth)}px`;
  panel.style.top = `${Math.max(top, Math.min(y - 20, bottom - ownHeight))}px`;
}

/** Where an element is, seen from another. */
function boxOf(element: Element, from: Element): Box {
  const [box, origin] = [element.getBoundingClientRect(), from.getBoundingClientRect()];
  return [box.left - origin.left, box.top - origin.top, box.width, box.height];
}

/** What can be seen in a scroller, within its padding. */
function roomOf(scroller: Element, from: Element): Box {
  const [x, y] = boxOf(scroller, from);
  const style = getComputedStyle(scroller);
  const [left, top] = [style.paddingLeft, style.paddingTop].map(Number.parseFloat);
  return [x + left, y + top, scroller.clientWidth - 2 * left, scroller.clientHeight - 2 * top];
}
