/** The tokens whose hidden states turned most, of a model that makes no predictions. */

import type { StateEffect } from "../../data/effect.ts";
import { el } from "../dom.ts";
import type { Table } from "../table.ts";
import { entry, small } from "./predictions.ts";

export function states({ positions, mean, moved }: StateEffect): readonly HTMLElement[] {
  const largest = Math.max(...moved.map((each) => each.moved), Number.MIN_VALUE);
  const rows = moved.map((each) => {
    const row = el(
      "tr",
      {},
      el("td", { class: "rank" }, `${each.position}`),
      el("th", { scope: "row" }, el("bdi", { title: each.label }, each.label)),
      el("td", { class: "p" }, small(each.moved)),
    );
    row.style.setProperty("--p", `${each.moved / largest}`);
    return row;
  });
  const shown = moved.length < positions ? `, the ${moved.length} most of ${positions}` : "";
  return [
    el("h3", {}, `Change of the last hidden states${shown}`),
    el(
      "table",
      { class: "states", "aria-label": "Change of the hidden state of each token" },
      el(
        "thead",
        {},
        el("tr", {}, ...["", "token", "1 − cosine"].map((name) => el("th", {}, name))),
      ),
      el("tbody", {}, ...rows),
    ),
    el("dl", {}, entry([`mean of ${positions} tokens`], small(mean))),
  ];
}

/** The mean change, in a sentence for screen readers. */
export const statesSummary = ({ mean, positions }: StateEffect): string =>
  `the hidden states of ${positions} tokens change by ${small(mean)} on average`;

export function statesTable({ moved }: StateEffect): Table {
  return {
    name: "Effect",
    rows: () => [
      ["position", "token", "1 - cosine"],
      ...moved.map((each) => [each.position, each.label, each.moved]),
    ],
  };
}
