/** A larger picture of a head and its metrics, beside its cell. */

import { type Box, paintCanvas } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";

/** The largest width of the picture, and the width of the metrics below it. */
const WIDTH = 206;
const SMALLEST = 60;
/** The space between the preview and its cell. */
const GAP = 10;
/** The height of the title, the metrics and the frame. */
const REST = 190;

/**
 * Fill `panel` and place it, within its parent, on the side of the cell that has space.
 *
 * @param aspect the width of the picture divided by its height
 */
export function showPreview(
  panel: HTMLElement,
  cell: Element,
  aspect: number,
  paint: (painter: Painter, ratio: number, box: Box) => void,
  title: HTMLElement,
  numbers: HTMLElement,
): void {
  const stage = panel.parentElement ?? panel;
  const [x, y, cellWidth] = boxOf(cell, stage);
  const [left, top, width, height] = visibleBox(stage.closest(".body") ?? stage, stage);
  const [end, bottom] = [left + width, top + height];
  const tallest = Math.max(SMALLEST, Math.min(WIDTH, height - REST));
  const across = Math.min(WIDTH, tallest * aspect);
  const size = [across, across / aspect] as const;
  const canvas = panel.querySelector("canvas") ?? el("canvas");
  paintCanvas(canvas, ...size, (painter, ratio) => paint(painter, ratio, [0, 0, ...size]));
  panel.replaceChildren(title, canvas, numbers);
  panel.style.width = `${WIDTH}px`;
  const [ownWidth, ownHeight] = [panel.offsetWidth, panel.offsetHeight];
  const right = x + cellWidth + GAP;
  panel.style.left = `${Math.max(left, right + ownWidth <= end ? right : x - GAP - ownWidth)}px`;
  panel.style.top = `${Math.max(top, Math.min(y - 20, bottom - ownHeight))}px`;
}

/** The box of an element in the coordinates of another. */
function boxOf(element: Element, from: Element): Box {
  const [box, origin] = [element.getBoundingClientRect(), from.getBoundingClientRect()];
  return [box.left - origin.left, box.top - origin.top, box.width, box.height];
}

/** The visible area of a scroll container, within its padding. */
function visibleBox(scroller: Element, from: Element): Box {
  const [x, y] = boxOf(scroller, from);
  const style = getComputedStyle(scroller);
  const [left, top] = [style.paddingLeft, style.paddingTop].map(Number.parseFloat);
  return [x + left, y + top, scroller.clientWidth - 2 * left, scroller.clientHeight - 2 * top];
}
