/** The model view in words and numbers. */

import type { LayerInfo, Measure, StackInfo } from "../../data/manifest.ts";
import type { Table } from "../../parts/table.ts";
import { number, type Phrase, strong, weight } from "../../parts/text.ts";
import { longName, measured, measuresOf } from "./measures.ts";
import { allHeads, type Head, type Row } from "./order.ts";
import { described, isSelf, PATTERN_NAMES, patternOf } from "./patterns.ts";

/** As the status line and the preview call a head. */
export const headTitle = ({ layer, head }: Head) => `Layer ${layer.number} · Head ${head}`;

/** As the accessibility tree calls it. */
export const headName = ({ layer, head }: Head) => `Layer ${layer.number}, head ${head}`;

/** @param measure the one that the view is about: said also where the others do not say it. */
export function statusOf({ layer, head }: Head, stack: StackInfo, measure: Measure): Phrase {
  const value = (name: keyof LayerInfo["measures"]) => layer.measures[name][head];
  const shares = isSelf(stack)
    ? [
        ` · distance ${directed(value("distance"))} · to previous ${weight(value("previous"))}`,
        `, next ${weight(value("next"))}, special ${weight(value("special"))}`,
        measure === "same" || measure === "first" ? `, ${measure} ${weight(value(measure))}` : "",
      ]
    : [` · to first ${weight(value("first"))}, special ${weight(value("special"))}`];
  return [
    strong(`${headTitle({ layer, head })}  `),
    `${described(patternOf(layer, head, stack))} · entropy ${number(value("entropy"))} nats`,
    ...shares,
  ];
}

/** A mean distance with the direction that its sign stands for. */
function directed(distance: number): string {
  const shown = number(distance, 1);
  if (Number(distance.toFixed(1)) === 0) return shown;
  return `${shown} (to the ${distance < 0 ? "left" : "right"})`;
}

/** Which part of a very long text all this is about; "" where it is about the whole. */
export function sampledText({ sampled, queries }: StackInfo): string {
  if (sampled === null) return "";
  const [some, all] = [sampled, queries.labels.length].map((count) => count.toLocaleString("en"));
  return `pictures and numbers from ${some} of ${all} queries`;
}

/** What the picture, its colour and its place say about a head. */
export function description({ layer, head }: Head, stack: StackInfo, measure: Measure): string {
  const pattern = described(patternOf(layer, head, stack));
  return `${pattern}, ${longName(measure)} ${measured(measure, layer.measures[measure][head])}`;
}

/** A line per head shown, in the order in which they are shown. */
export function headsTable(rows: readonly Row[], stack: StackInfo): Table {
  const measures = measuresOf(stack);
  return {
    name: "Heads",
    rows: () => [
      ["layer", "head", "pattern", ...measures],
      ...allHeads(rows).map(({ layer, head }) => [
        layer.number,
        head,
        PATTERN_NAMES[patternOf(layer, head, stack)],
        ...measures.map((measure) => layer.measures[measure][head]),
      ]),
    ],
  };
}
