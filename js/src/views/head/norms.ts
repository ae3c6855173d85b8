/** The factor of each key as a bar beside it, while weights are multiplied with them. */

import { largestOf } from "../../basics/extremes.ts";
import { el } from "../../parts/dom.ts";
import type { Track } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { headIn } from "../shared/layer-view.ts";
import type { ShownHeads } from "./shown.ts";

/** The width of the column with its gap, in CSS pixels. */
export const NORMS_WIDTH = 92;

/** @param track the places of the keys */
export function normsColumn(
  scope: Scope,
  track: Track,
  { state, data, axes, reading: { lens } }: ShownHeads,
): HTMLElement {
  const { shown } = axes.key;
  const of = el("span");
  const heading = el(
    "div",
    { class: "heading" },
    el("span", { class: "name" }, lens.symbols?.[0] ?? ""),
    of,
  );
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
    const head = headIn(state, data);
    const values = data.whole?.factors(lens, head);
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
