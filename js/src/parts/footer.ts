/** The footer: the numbers of the focused tokens, and the legend of the view. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Scope } from "../scheduling/scope.ts";
import { el } from "./dom.ts";
import { lettersOf, type Marked, type Phrase } from "./text.ts";

export function footer(
  scope: Scope,
  status: ReadonlySignal<Phrase>,
  legend: ReadonlySignal<Phrase>,
): HTMLElement {
  const statusLine = el("div", { class: "status", role: "status" });
  const legendLine = el("div", { class: "about" });
  const filled = new Map<HTMLElement, string>();
  const fill = (line: HTMLElement, phrase: Phrase) => {
    const content = JSON.stringify(phrase);
    // Keep an equal text: a new layout costs time with every move of the pointer.
    if (filled.get(line) === content) return;
    filled.set(line, content);
    line.replaceChildren(...phrase.map(piece));
    // The whole text, if the line is cut off.
    line.title = phrase.map((part) => (typeof part === "string" ? part : part.text)).join("");
  };
  scope.effect(() => fill(statusLine, status.value));
  scope.effect(() => fill(legendLine, legend.value));
  return el("footer", {}, statusLine, legendLine);
}

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
