/** The footer, one line until it is opened: the numbers of the focused tokens, and the legend. */

import type { ReadonlySignal } from "@preact/signals-core";
import { same } from "../basics/same.ts";
import { paintCanvas } from "../painting/canvas.ts";
import type { Scope } from "../scheduling/scope.ts";
import { button, el } from "./dom.ts";
import { lettersOf, type Marked, type Phrase } from "./text.ts";

/**
 * @param hovered true while the pointer, or the keyboard, looks at something
 * @param others beside the legend
 */
export function footer(
  scope: Scope,
  status: ReadonlySignal<Phrase>,
  legend: ReadonlySignal<Phrase>,
  hovered: ReadonlySignal<boolean>,
  ...others: readonly HTMLElement[]
): HTMLElement {
  const statusLine = el("div", { class: "status", role: "status" });
  const legendLine = el("div", { class: "about" });
  const filled = new Map<HTMLElement, Phrase>();
  /** Fill a line; returns the texts in it that follow the pointer, or null if it was filled so. */
  const fill = (line: HTMLElement, phrase: Phrase): readonly LiveText[] | null => {
    // Keep an equal text: a new layout costs time with every move of the pointer.
    if (same(phrase, filled.get(line))) return null;
    filled.set(line, phrase);
    const texts: LiveText[] = [];
    const pieces = phrase.map((part) => {
      if (!isLive(part)) return piece(part);
      const text = liveText(part.text, LIVE_WIDTH);
      texts.push(text);
      return text.element;
    });
    line.replaceChildren(...pieces);
    // The whole text, if the line is cut off.
    line.title = phrase.map((part) => (typeof part === "string" ? part : part.text)).join("");
    return texts;
  };
  scope.effect(() => {
    fill(statusLine, status.value);
  });
  let live: readonly LiveText[] = [];
  /** The text of the legend without the parts that follow the pointer. */
  let lasting: Phrase = [];
  scope.effect(() => {
    const phrase = legend.value;
    const now = phrase.filter((part) => !isLive(part));
    legendLine.classList.toggle("hovered", hovered.value);
    if (!hovered.value || !same(now, lasting)) live = fill(legendLine, phrase) ?? live;
    lasting = now;
    if (!hovered.value) return;
    phrase.filter(isLive).forEach(({ text }, at) => {
      live[at].paint(text);
    });
  });
  const title = "All of the status and the legend";
  const details = button({ class: "details", title, "aria-expanded": "false" }, "Details", () => {
    details.setAttribute("aria-expanded", `${element.classList.toggle("open")}`);
  });
  const element = el("footer", {}, statusLine, legendLine, ...others, details);
  return element;
}

const isLive = (part: string | Marked): part is Marked =>
  typeof part !== "string" && part.live === true;

/** The most width of a text that follows the pointer, in CSS pixels. */
const LIVE_WIDTH = 200;

/** A line of a figure, without hints, which apply to the screen only. */
export function printed(phrase: Phrase): HTMLElement {
  const parts = phrase.filter((part) => typeof part === "string" || !part.hint);
  return el("div", {}, ...parts.map(piece));
}

function piece(part: string | Marked): Node | string {
  if (typeof part === "string") return part;
  const element = part.token
    ? el("bdi", { class: part.strong && "strong" }, ...halves(part.text))
    : el("span", { class: part.strong && "strong" }, part.text);
  if (part.color) element.style.color = part.color;
  return element;
}

/** The length of the end of a long label that is always visible. */
const TAIL = 5;
/** The longest label that is not split. */
const WHOLE = 12;

/** A long label in two parts, of which the style shortens the first. */
function halves(text: string): (Node | string)[] {
  // Most are short, whatever their letters.
  if (text.length <= WHOLE) return [text];
  const letters = lettersOf(text);
  if (letters.length <= WHOLE) return [text];
  const [start, end] = [letters.slice(0, -TAIL), letters.slice(-TAIL)];
  return [
    el("span", { class: "start" }, start.join("")),
    el("span", { class: "end" }, end.join("")),
  ];
}

/** The height of the painted line in CSS pixels. */
const HEIGHT = 18;

type LiveText = ReturnType<typeof liveText>;

/**
 * Text that follows the pointer. While something is hovered, it is painted in its place, because
 * new text takes a layout with every move; else it is text.
 *
 * @param width the most width of the text in CSS pixels
 */
function liveText(text: string, width: number) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const element = el("span", { class: "live" }, text, canvas);
  paintCanvas(canvas, width, HEIGHT, () => {});
  let style: { readonly font: string; readonly color: string; readonly line: number } | null = null;
  return {
    element,
    paint(text: string): void {
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
