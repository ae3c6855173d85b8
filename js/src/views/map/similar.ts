/** The heads that are most like the one that is looked at, as thumbnails. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Head, Similarity } from "../../data/manifest.ts";
import { button, el } from "../../parts/dom.ts";
import { number } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { headName } from "../shared/all-heads/status.ts";
import { shortName } from "./labels.ts";

/** A head, and its distance from another one. */
export interface Near {
  readonly head: Head;
  readonly distance: number;
}

export interface SimilarOptions {
  readonly similarity: Similarity;
  /** The nearest first. */
  readonly nearest: ReadonlySignal<readonly Near[]>;
  /** Paints the thumbnail of a head; reads the signals that it depends on. */
  paint(canvas: HTMLCanvasElement, head: Head, width: number): void;
  colorOf: ReadonlySignal<(head: Head) => string>;
  choose(head: Head): void;
}

/** The number of heads that are shown. */
export const MOST_SIMILAR = 5;
const WIDEST = 72;
const GAP = 14;

/** @param width in CSS pixels */
export function similar(
  scope: Scope,
  { similarity, nearest, paint, colorOf, choose }: SimilarOptions,
  width: number,
): HTMLElement {
  const side = Math.min(WIDEST, Math.floor((width - (MOST_SIMILAR - 1) * GAP) / MOST_SIMILAR));
  const shown: (Head | undefined)[] = [];
  const items = Array.from({ length: MOST_SIMILAR }, (_, at) => {
    const [canvas, bar, name, distance] = [
      el("canvas", {}),
      el("i", {}),
      el("strong", {}),
      el("span", {}),
    ];
    const open = button({}, "", () => {
      const head = shown[at];
      if (head) choose(head);
    });
    open.style.width = `${side}px`;
    open.append(canvas, bar, el("span", { class: "similar-name" }, name, distance));
    return { item: el("li", {}, open), open, canvas, bar, name, distance };
  });
  scope.effect(() => {
    items.forEach(({ item, open, canvas, bar, name, distance }, at) => {
      const near = nearest.value[at];
      shown[at] = near?.head;
      // It keeps its place, so that nothing moves.
      item.style.visibility = near ? "" : "hidden";
      if (!near) return;
      const far = number(near.distance, 3);
      open.setAttribute("aria-label", `${headName(near.head)}, distance ${far}`);
      name.textContent = shortName(near.head);
      distance.textContent = far.replace(/^0/, "");
      bar.style.background = colorOf.value(near.head);
      paint(canvas, near.head, side);
    });
  });
  return el(
    "section",
    { class: "similar" },
    el("div", { class: "title" }, el("strong", {}, "Similar heads"), ` ${similarity.label}`),
    el("ul", { role: "list", "aria-label": "Similar heads" }, ...items.map(({ item }) => item)),
  );
}
