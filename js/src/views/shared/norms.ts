/** The norm of each key's value as a bar beside it, while weights are multiplied with them. */

import type { ReadonlySignal } from "@preact/signals-core";
import { largestOf } from "../../data/extremes.ts";
import { el } from "../../parts/dom.ts";
import type { Track } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";

/** The width of the column with its gap, in CSS pixels. */
export const NORMS_WIDTH = 92;

export interface NormsOptions {
  /** The number of the head, and the norm of each key's value; null for several heads. */
  readonly norms: ReadonlySignal<{ readonly head: number; readonly values: Float32Array } | null>;
  /** The keys shown. */
  readonly shown: readonly number[];
}

/** @param track the places of the keys. */
export function normsColumn(scope: Scope, options: NormsOptions, track: Track): HTMLElement {
  const heading = el("div", { class: "heading" });
  const bars = options.shown.map((_, at) => {
    const [bar, number] = [el("i"), el("span")];
    const row = el("div", { class: "row" }, el("div", { class: "bar" }, bar), number);
    row.style.height = `${track.size(at)}px`;
    return { bar, number, row };
  });
  // The status line says the norm of a pair's key.
  const element = el(
    "div",
    { class: "norms", "aria-hidden": "true" },
    heading,
    ...bars.map(({ row }) => row),
  );
  scope.effect(() => {
    const found = options.norms.value;
    element.classList.toggle("unused", found === null);
    if (!found) return;
    heading.textContent = `‖f(x)‖ of head ${found.head}`;
    const norms = options.shown.map((key) => found.values[key]);
    const largest = largestOf(norms) || 1;
    bars.forEach(({ bar, number }, at) => {
      bar.style.width = `${(100 * norms[at]) / largest}%`;
      number.textContent = norms[at].toPrecision(3);
    });
  });
  return element;
}
