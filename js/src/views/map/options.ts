/** The accessible points of the map: a listbox with an option per head, at its place. */

import type { Head, Metric, Patterns } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { described } from "../shared/all-heads/patterns.ts";
import { headName, measured } from "../shared/all-heads/status.ts";
import type { Point } from "./layout.ts";

const idOf = ({ layer, head }: Head) => `point-${layer.number}-${head}`;

export interface Options {
  /** Holds the options in the order of the model. */
  readonly element: HTMLElement;
  /** The option of a head; undefined if it has no place. */
  of(head: Head): HTMLElement | undefined;
}

/**
 * @param metrics those on the axes, of the colour and of the size
 * @param outsideOf says where the head lies outside of the null; "" for nowhere
 */
export function mapOptions(
  points: readonly Point[],
  patterns: Patterns,
  metrics: readonly Metric[],
  outsideOf: (head: Head) => string,
): Options {
  const byId = new Map<string, HTMLElement>();
  const inOrder = [...points].sort(
    ({ head: a }, { head: b }) => a.layer.number - b.layer.number || a.head - b.head,
  );
  const elements = inOrder.map(({ head, x, y, radius }) => {
    const numbers = metrics.map((metric) => measured(metric, head));
    const words = [described(patterns, head), ...numbers, outsideOf(head)].filter(Boolean);
    const option = el("div", {
      role: "option",
      id: idOf(head),
      "aria-label": `${headName(head)}: ${words.join(", ")}`,
      "aria-selected": "false",
    });
    // Margins that add up to nothing. Browsers would keep a layer for each of thousands of elements
    // that are positioned, and go through all of them at every frame.
    option.style.cssText =
      `width:${2 * radius}px;height:${2 * radius}px;` +
      `margin:${y - radius}px 0 ${-y - radius}px ${x - radius}px`;
    byId.set(option.id, option);
    return option;
  });
  const element = el("div", { class: "options-of-map" }, ...elements);
  return { element, of: (head) => byId.get(idOf(head)) };
}
