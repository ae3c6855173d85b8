/** The factor of each key as a bar beside it, while weights are multiplied with them. */

import { largestOf } from "../../basics/extremes.ts";
import { el } from "../../parts/dom.ts";
import type { Track } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";

/** The width of the column with its gap, in CSS pixels. */
export const NORMS_WIDTH = 92;

/**
 * @param track the places of the keys
 * @param shown the keys
 * @param name of a factor
 * @param factors the head, and its factor of each key; reads the signals that they depend on
 */
export function normsColumn(
  scope: Scope,
  track: Track,
  shown: readonly number[],
  name: string,
  factors: () => readonly [head: number, byKey: Float32Array | null],
): HTMLElement {
  const of = el("span");
  const heading = el("div", { class: "heading" }, el("span", { class: "name" }, name), of);
  const bars = shown.map((_, at) => {
    const [bar, number] = [el("i"), el("span")];
    const row = el("div", { class: "row" }, el("div", { class: "bar" }, bar), number);
    row.style.height = `${track.size(at)}px`;
    return { bar, number, row };
  });
  // The status line says that of a pair's key.
  const element = el("div", { class: "norms", "aria-hidden": "true" }, heading);
  element.append(...bars.map(({ row }) => row));
  scope.effect(() => {
    const [head, values] = factors();
    of.textContent = ` of head ${head}`;
    const norms = shown.map((key) => values?.[key] ?? 0);
    const largest = largestOf(norms) || 1;
    bars.forEach(({ bar, number }, at) => {
      bar.style.setProperty("--length", `${(100 * norms[at]) / largest}%`);
      number.textContent = norms[at].toPrecision(3);
    });
  });
  return element;
}
