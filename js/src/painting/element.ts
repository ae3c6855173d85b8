/** Paints an element as the page shows it: boxes, text and canvases at their places. */

import { repaint } from "./canvas.ts";
import type { Painter } from "./painter.ts";

const opacities = new WeakMap<Element, number>();

/** Set the opacity of an element in figures, for what is faded on the screen by a canvas above it. */
export function fadeInFigures(element: Element, opacity: number): void {
  opacities.set(element, opacity);
}

/**
 * Paint an element and its descendants, in the coordinates of the window.
 *
 * @param behind the colour behind the element
 * @param ratio pixels per CSS pixel of bitmaps
 */
export function paintElement(
  painter: Painter,
  element: Element,
  behind: string,
  ratio: number,
): void {
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return;
  const box = element.getBoundingClientRect();
  const { backgroundColor, position } = style;
  // A sticky element covers what is scrolled below it.
  const filled = !isClear(backgroundColor) && (backgroundColor !== behind || position === "sticky");
  painter.save();
  painter.globalAlpha *= Number(style.opacity) * (opacities.get(element) ?? 1);
  paintBox(painter, box, style, filled);
  if (isCut(element, style)) clipTo(painter, box);
  if (element instanceof HTMLCanvasElement) {
    clipTo(painter, box);
    painter.translate(box.left, box.top);
    repaint(element, painter, ratio);
  }
  const ground = filled ? backgroundColor : behind;
  for (const child of inOrder(element)) {
    if (child instanceof Element) paintElement(painter, child, ground, ratio);
    else paintText(painter, child as Text, style);
  }
  paintAfter(painter, element, box);
  painter.restore();
}

/** True if an element cuts off a part of its content. */
const isCut = (element: Element, { overflow }: CSSStyleDeclaration) =>
  overflow !== "visible" &&
  (element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight);

function clipTo(painter: Painter, { left, top, width, height }: DOMRect): void {
  painter.beginPath();
  painter.rect(left, top, width, height);
  painter.clip();
}

function inOrder(element: Element): readonly ChildNode[] {
  const level = (node: ChildNode) =>
    node instanceof Element ? Number.parseInt(getComputedStyle(node).zIndex, 10) || 0 : 0;
  const levels = new Map(Array.from(element.childNodes, (node) => [node, level(node)]));
  return [...levels.keys()].sort((a, b) => (levels.get(a) ?? 0) - (levels.get(b) ?? 0));
}

/** Paint the ::after box of an element, where it is positioned. */
function paintAfter(painter: Painter, element: Element, box: DOMRect): void {
  const style = getComputedStyle(element, "::after");
  if (style.content === "none") return;
  const [left, top, width, height] = [style.left, style.top, style.width, style.height].map(
    Number.parseFloat,
  );
  const place = new DOMRect(box.left + left, box.top + top, width, height);
  paintBox(painter, place, style, !isClear(style.backgroundColor));
}

/** An inset shadow without blur: a rim. */
const RIM = /^(.+\)) 0px 0px 0px ([\d.]+)px inset$/;

function paintBox(
  painter: Painter,
  { left, top, width, height }: DOMRect,
  style: CSSStyleDeclaration,
  filled: boolean,
): void {
  const radius = Number.parseFloat(style.borderTopLeftRadius);
  const trace = (out: number) => {
    painter.beginPath();
    const r = Math.max(0, radius + out);
    painter.roundRect(left - out, top - out, width + 2 * out, height + 2 * out, r);
  };
  if (filled) {
    painter.fillStyle = style.backgroundColor;
    trace(0);
    painter.fill();
  }
  const stroke = (color: string, line: number, out: number) => {
    painter.strokeStyle = color;
    painter.lineWidth = line;
    trace(out);
    painter.stroke();
  };
  const [, rim, inset] = RIM.exec(style.boxShadow) ?? [];
  if (rim) stroke(rim, Number(inset), -Number(inset) / 2);
  const border = Number.parseFloat(style.borderTopWidth);
  if (border && style.borderTopStyle !== "none") stroke(style.borderTopColor, border, -border / 2);
  if (style.outlineStyle === "none") return;
  const [line, offset] = [style.outlineWidth, style.outlineOffset].map(Number.parseFloat);
  stroke(style.outlineColor, line, offset + line / 2);
}

const isClear = (color: string) => color === "transparent" || color === "rgba(0, 0, 0, 0)";

const UNDERLINE = 2;

function paintText(painter: Painter, node: Text, style: CSSStyleDeclaration): void {
  painter.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  painter.direction = style.direction as CanvasDirection;
  painter.fillStyle = style.color;
  for (const { text, box } of linesOf(node)) {
    const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } =
      painter.measureText(text);
    const base = (box.top + box.bottom + above - below) / 2;
    const [align, x] = anchorOf(node, box);
    painter.textAlign = align;
    painter.fillText(text, x, base);
    if (style.textDecorationLine !== "underline") continue;
    painter.fillStyle = style.textDecorationColor;
    painter.fillRect(box.left, base + UNDERLINE, box.width, UNDERLINE);
    painter.fillStyle = style.color;
  }
}

/** The alignment and position of a text, at the nearer side of its box, for any font. */
function anchorOf(node: Text, box: DOMRect): ["left" | "center" | "right", number] {
  let element = node.parentElement as Element;
  let around = element.getBoundingClientRect();
  while (around.width < box.width + 2 && element.parentElement) {
    element = element.parentElement;
    around = element.getBoundingClientRect();
  }
  const [before, after] = [box.left - around.left, around.right - box.right];
  if (Math.abs(before - after) < 1) return ["center", (box.left + box.right) / 2];
  return before < after ? ["left", box.left] : ["right", box.right];
}

interface Line {
  readonly text: string;
  readonly box: DOMRect;
}

/** The lines of a text as the page breaks them, found letter by letter. */
function linesOf(node: Text): readonly Line[] {
  if (!node.data.trim()) return [];
  const range = document.createRange();
  range.selectNode(node);
  if (range.getClientRects().length < 2) {
    return [{ text: node.data, box: range.getBoundingClientRect() }];
  }
  const lines: Line[] = [];
  let start = 0;
  const end = (at: number) => {
    range.setStart(node, start);
    range.setEnd(node, at);
    const text = node.data.slice(start, at);
    if (text.trim()) lines.push({ text, box: range.getBoundingClientRect() });
    start = at;
  };
  // The boxes of neighbouring lines may overlap.
  let middle = Number.POSITIVE_INFINITY;
  for (let at = 0; at < node.data.length; at++) {
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    const box = range.getBoundingClientRect();
    if (box.top > middle) end(at);
    if (box.width) middle = (box.top + box.bottom) / 2;
  }
  end(node.data.length);
  return lines;
}
