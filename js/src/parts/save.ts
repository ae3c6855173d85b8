/** The view as a figure: on the reader’s disk, or printed. */

import type { FigureKind } from "../painting/figure.ts";
import type { Scope } from "../scheduling/scope.ts";
import { el } from "./dom.ts";
import { type MenuItem, menuButton } from "./menu.ts";

interface SaveOptions {
  /** Paints the view and names its file, without an extension; null while nothing is shown. */
  figure(kind: FigureKind): { readonly name: string; readonly file: Promise<Blob> } | null;
  /** Returns the function that keeps the view in the notebook; none where nothing can. */
  keep(): (() => void) | null | undefined;
  /** True if a kernel answers, which can draw what a browser cannot. */
  live(): boolean;
  /** Shows a message to the reader. */
  say(text: string): void;
}

const KINDS: readonly FigureKind[] = ["svg", "png"];

export function saveMenu(scope: Scope, { figure, keep, live, say }: SaveOptions) {
  async function save(kind: FigureKind): Promise<void> {
    try {
      const drawn = figure(kind);
      if (!drawn) {
        say("There is nothing to save yet.");
        return;
      }
      const name = `${drawn.name}.${kind}`;
      download(await drawn.file, name);
      say(`Saved as ${name}`);
    } catch (error) {
      say(`Figure not saved: ${error instanceof Error ? error.message : error}`);
    }
  }
  const element = menuButton(scope, {
    name: "Save figure",
    title: "Save what is shown as a figure (s)",
    icon: () => "download",
    items: () => {
      const kinds: MenuItem[] = KINDS.map((kind) => ({
        name: kind.toUpperCase(),
        choose: () => void save(kind),
      }));
      const pdf = () => say('For a PDF, run widget.save_figure("x.pdf") in a cell');
      if (live()) kinds.push({ name: "PDF", choose: pdf });
      const kept = keep();
      if (!kept) return kinds;
      const choose = () => {
        kept();
        // Where the host takes it, the view is gone.
        say("If this stays, run widget.static() in a cell");
      };
      return [...kinds, { name: "Keep in notebook", choose }];
    },
  });
  const first = () => void save("svg");
  return { element, first };
}

/** The longest time that a browser needs to start a download. */
const PATIENCE_MS = 60_000;

function download(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob);
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), PATIENCE_MS);
}

/**
 * Print the view as a figure: paper has another width, and no use for controls.
 *
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
