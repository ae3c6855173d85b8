/** The factor of each key as a bar beside it, while weights are multiplied with them. */

import type { ReadonlySignal } from "@preact/signals-core";
import { largestOf } from "../../basics/extremes.ts";
import { el } from "../../parts/dom.ts";
import type { Track } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";

/** The width of the column with its gap, in CSS pixels. */
export const NORMS_WIDTH = 92;

export interface NormsOptions {
  readonly head: ReadonlySignal<number>;
  /** The name of a factor. */
  readonly name: string;
  /** By key. */
  factors(head: number): Float32Array | null;
  /** The keys shown. */
  readonly shown: readonly number[];
}

/** @param track the places of the keys. */
export function normsColumn(scope: Scope, options: NormsOptions, track: Track): HTMLElement {
  const name = el("span", { class: "name" }, options.name);
  const of = el("span");
  const heading = el("div", { class: "heading" }, name, of);
  const bars = options.shown.map((_, at) => {
    const [bar, number] = [el("i"), el("span")];
    const row = el("div", { class: "row" }, el("div", { class: "bar" }, bar), number);
    row.style.height = `${track.size(at)}px`;
    return { bar, number, row };
  });
  // The status line says that of a pair's key.
  const element = el(
    "div",
    { class: "norms", "aria-hidden": "true" },
    heading,
    ...bars.map(({ row }) => row),
  );
  scope.effect(() => {
    const head = options.head.value;
    of.textContent = ` of head ${head}`;
    const values = options.factors(head);
    const norms = options.shown.map((key) => values?.[key] ?? 0);
    const largest = largestOf(norms) || 1;
    bars.forEach(({ bar, number }, at) => {
      bar.style.setProperty("--length", `${(100 * norms[at]) / largest}%`);
      number.textContent = norms[at].toPrecision(3);
    });
  });
  return element;
}
