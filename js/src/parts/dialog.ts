/** A modal dialog, closed with Escape or a click outside; the focus returns to where it was. */

import { el } from "./dom.ts";
import { iconButton } from "./icons.ts";

export function dialog(name: string, ...content: HTMLElement[]) {
  const close = iconButton({ icon: "close", name: "Close" });
  const title = el("div", { class: "dialog-title" }, el("span", { class: "strong" }, name), close);
  const inside = el("div", { class: "dialog-inside" }, title, ...content);
  const element = el("dialog", { "aria-label": name }, inside);
  const toggle = (open = !element.open) => {
    if (open === element.open) return;
    if (open) element.showModal();
    else element.close();
  };
  close.addEventListener("click", () => toggle(false));
  // Its content covers it, so that its own area is the backdrop.
  element.addEventListener("click", (event) => {
    if (event.target === element) toggle(false);
  });
  element.addEventListener("keydown", (event) => {
    // The browser closes it on Escape, which must not reach the view and the notebook around it.
    event.stopPropagation();
    if (event.key !== "Tab") return;
    event.preventDefault();
    const stops = [...element.querySelectorAll<HTMLElement>("button:enabled, textarea")];
    const at = stops.indexOf(event.target as HTMLElement) + (event.shiftKey ? -1 : 1);
    stops.at(at % stops.length)?.focus();
  });
  return { element, toggle };
}
