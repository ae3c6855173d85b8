/** A part of the reader's own: what is selected in the prompt, by the pointer or by keys. */

import { button } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Prose, Tokens } from "./prose.ts";

/** Chromium's shadow roots have selections of their own. */
type Root = (Document | ShadowRoot) & { getSelection?(): Selection | null };

const selectionOf = (element: Element): Selection | null => {
  const root = element.getRootNode() as Root;
  return root.getSelection?.() ?? getSelection();
};

/** What is selected around an element; null for nothing. */
export function selectedRange(element: Element): AbstractRange | null {
  const [root, selection] = [element.getRootNode() as Root, selectionOf(element)];
  if (!selection?.rangeCount) return null;
  const range =
    root instanceof ShadowRoot && !root.getSelection && selection.getComposedRanges
      ? selection.getComposedRanges({ shadowRoots: [root] })[0]
      : selection.getRangeAt(0);
  return range.collapsed ? null : range;
}

/**
 * @param prompt has the texts, and the focus while keys select
 * @param texts those of the messages
 */
export function ownPart(
  scope: Scope,
  prompt: HTMLElement,
  texts: readonly Prose[],
  make: (tokens: Tokens) => void,
) {
  // Not kept, since the browser tells of a change later than of the next key.
  const selected = () => {
    const range = selectedRange(prompt);
    return (range && texts.map((text) => text.selected(range)).find(Boolean)) ?? null;
  };
  /** Makes what is selected a part; does nothing where nothing is. */
  const take = () => {
    const found = selected();
    if (!found) return;
    selectionOf(prompt)?.removeAllRanges();
    make(found.tokens);
  };
  const element = button(
    { class: "take", hidden: true, title: "Make what is selected a part (key p)" },
    "Look at this part",
    take,
  );
  // What is selected stays so.
  element.addEventListener("mousedown", (event) => event.preventDefault());
  const look = () => {
    const found = selected();
    element.hidden = !found;
    if (!found) return;
    const { left, top, width } = prompt.getBoundingClientRect();
    const { right, bottom } = found.end;
    element.style.left = `${Math.max(0, Math.min(right - left, width - element.offsetWidth))}px`;
    element.style.top = `${bottom - top + 2}px`;
  };
  document.addEventListener("selectionchange", look, { signal: scope.signal });
  prompt.addEventListener("keydown", (event) => {
    // Within it are pictures, with keys of their own.
    if (event.target !== prompt) return;
    const way = { ArrowRight: "right", ArrowLeft: "left" }[event.key];
    const selection = selectionOf(prompt);
    const [first] = texts;
    if (!way || !selection || !first || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (!selected()) selection.collapse(first.element, 0);
    else if (!event.shiftKey) {
      if (way === "right") selection.collapseToEnd();
      else selection.collapseToStart();
    }
    selection.modify("extend", way, "word");
  });
  return { element, take };
}
