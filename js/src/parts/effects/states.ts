/** The tokens whose hidden states turned most, of a model that makes no predictions. */

import type { StateEffect } from "../../data/effect.ts";
import { el, tableElement } from "../dom.ts";
import { beside, entry, type ShownEffect, small } from "./predictions.ts";

export function states(
  { positions, mean, moved }: StateEffect,
  others: readonly number[],
): ShownEffect {
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
  const label = "Change of the hidden state of each token";
  const table = tableElement(label, ["", "token", "1 − cosine"], rows);
  table.className = "states";
  const shown = moved.length < positions ? `, the ${moved.length} most of ${positions}` : "";
  const content = [
    el("h3", {}, `Change of the last hidden states${shown}`),
    el("dl", {}, entry([`mean of ${positions} tokens`], small(mean)), ...beside(others, mean, "")),
    table,
  ];
  return {
    content,
    summary: `the hidden states of ${positions} tokens change by ${small(mean)} on average`,
    table: {
      name: "Effect",
      rows: () => [
        ["position", "token", "1 - cosine"],
        ...moved.map((each) => [each.position, each.label, each.moved]),
      ],
    },
  };
}
