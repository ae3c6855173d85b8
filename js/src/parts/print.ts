/** Prints the view as a figure: paper has another width, and no use for controls. */

import type { Scope } from "../scheduling/scope.ts";
import { el } from "./dom.ts";

/**
 * @param root is replaced while the page is printed
 * @param picture paints the view; null while nothing is shown
 */
export function printAsFigure(
  scope: Scope,
  root: HTMLElement,
  picture: () => HTMLElement | null,
): void {
  const paper = el("div", { class: "paper" });
  let width = 0;
  scope.onResize(root, () => {
    if (!paper.isConnected) width = root.offsetWidth;
  });
  const listen = (name: string, listener: () => void) =>
    window.addEventListener(name, listener, { signal: scope.signal });
  listen("beforeprint", () => {
    // A frame is as wide as the paper by now, but the view has not been laid out again.
    root.style.width = `${width}px`;
    const drawn = picture();
    if (drawn) {
      paper.replaceChildren(drawn);
      root.after(paper);
      root.classList.add("printing");
    } else root.style.width = "";
  });
  listen("afterprint", () => {
    paper.remove();
    root.classList.remove("printing");
    root.style.width = "";
  });
}
