/** The menu that saves what is shown as a figure. Nothing leaves the page but for the reader's disk. */

import { paint } from "../figures/paint.ts";
import type { Scene } from "../figures/scene.ts";
import { svg } from "../figures/svg.ts";
import type { Scope } from "../scheduling/scope.ts";
import { el } from "./dom.ts";
import { menuButton } from "./menu.ts";

export interface SaveOptions {
  /** The figure, and its file name without an ending; null while nothing is shown. */
  figure(): { readonly scene: Scene; readonly name: string } | null;
  /** The title of every figure. */
  readonly title: string;
  /** Shows the result to the reader. */
  say(text: string): void;
}

export interface Save {
  readonly element: HTMLElement;
  /** Saves as SVG. */
  first(): void;
}

const KINDS = ["svg", "png"] as const;
type Kind = (typeof KINDS)[number];

export function saveMenu(scope: Scope, { figure, title, say }: SaveOptions): Save {
  async function save(kind: Kind): Promise<void> {
    try {
      const found = figure();
      if (!found) {
        say("There is nothing to save yet.");
        return;
      }
      const { scene } = found;
      const name = `${found.name}.${kind}`;
      const blob =
        kind === "png"
          ? await paint(scene)
          : new Blob([svg(scene, title)], { type: "image/svg+xml" });
      download(blob, name);
      say(`Saved as ${name}`);
    } catch (error) {
      say(`Figure not saved: ${error instanceof Error ? error.message : error}`);
    }
  }
  const element = menuButton(scope, {
    name: "Save figure",
    title: "Save what is shown as a figure (s)",
    icon: () => "download",
    items: () => KINDS.map((kind) => ({ name: kind.toUpperCase(), choose: () => void save(kind) })),
  });
  return { element, first: () => void save("svg") };
}

/** The time that a browser may take to begin. */
const PATIENCE_MS = 60_000;

function download(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob);
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), PATIENCE_MS);
}
