/** The numbers of a head, by the names and in the units in which the reader meets them. */

import type { LayerInfo, Measure, StackInfo } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { number, weight } from "../../parts/text.ts";
import { isSelf } from "./patterns.ts";

/** For a choice among others. */
export function name(measure: Measure): string {
  if (measure === "distance") return "mean distance";
  return measure === "entropy" ? measure : `share on ${measure}`;
}

/** For where nothing around it explains it. */
export function longName(measure: Measure): string {
  if (measure === "entropy" || measure === "distance") return name(measure);
  return `${name(measure)} ${measure === "special" ? "tokens" : "token"}`;
}

/** The measures that mean something: keys of another text have no neighbours and no distance. */
export function measuresOf(sides: Pick<StackInfo, "queries" | "keys">): readonly Measure[] {
  return isSelf(sides)
    ? ["entropy", "distance", "previous", "same", "next", "first", "special"]
    : ["entropy", "first", "special"];
}

/** A value with its unit, as exact as the status line. */
export function measured(measure: Measure, value: number): string {
  if (measure === "entropy") return `${number(value)} nats`;
  return measure === "distance" ? `${number(value, 1)} tokens` : weight(value);
}

/** A value alone, in as few digits as a narrow column holds. */
export function briefly(measure: Measure, value: number): string {
  return number(value, measure === "distance" ? 1 : 2);
}

/** All numbers of one head. */
export function measureTable(
  { measures }: LayerInfo,
  head: number,
  stack: StackInfo,
): HTMLTableElement {
  const rows = measuresOf(stack).map((measure) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name(measure)),
      el("td", {}, measured(measure, measures[measure][head])),
    ),
  );
  return el("table", { class: "measures" }, ...rows);
}
