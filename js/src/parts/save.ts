/** The menu that saves what is shown as a figure. Nothing leaves the page but for the reader's disk. */

import type { FigureKind } from "../painting/figure.ts";
import { el } from "./dom.ts";
import { menuButton } from "./menu.ts";

export interface SaveOptions {
  /** What is shown, and what its file is called, without an ending; null while nothing is. */
  figure(kind: FigureKind): { readonly name: string; readonly file: Promise<Blob> } | null;
  /** Tells the reader what came of it. */
  say(text: string): void;
}

export interface Save {
  readonly element: HTMLElement;
  /** Saves as SVG. */
  first(): void;
  dispose(): void;
}

const KINDS: readonly FigureKind[] = ["svg", "png"];

export function saveMenu({ figure, say }: SaveOptions): Save {
  async function save(kind: FigureKind): Promise<void> {
    try {
      const found = figure(kind);
      if (!found) {
        say("There is nothing to save yet.");
        return;
      }
      const name = `${found.name}.${kind}`;
      download(await found.file, name);
      say(`Saved as ${name}`);
    } catch (error) {
      say(`Figure not saved: ${error instanceof Error ? error.message : error}`);
    }
  }
  const [element, dispose] = menuButton({
    name: "Save figure",
    title: "Save what is shown as a figure (s)",
    icon: () => "download",
    items: () => KINDS.map((kind) => ({ name: kind.toUpperCase(), choose: () => void save(kind) })),
  });
  return { element, first: () => void save("svg"), dispose };
}

/** How long a browser may take to begin. */
const PATIENCE_MS = 60_000;

function download(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob);
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), PATIENCE_MS);
}
