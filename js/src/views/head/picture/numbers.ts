/** The numbers that sum up where one query looks. */

import type { ReadonlySignal } from "@preact/signals-core";
import { el } from "../../../parts/dom.ts";
import { number, weight } from "../../../parts/text.ts";
import { summaryOf } from "../../shared/picture/shade.ts";
import type { Picture } from "./source.ts";

/** With an error of up to this, entropies are right to two decimals. */
const THREE_DECIMALS = 0.0005;

/** Shares add up to 1, but for rounding; maxima of heads do not. */
const APART = 0.02;

/** A patch and its neighbours. */
const AROUND = 9;

/** The names of the numbers, those that only a patch has last. */
const NAMES = ["entropy", "tokens with 90%", "mean distance", "itself + neighbours"];

/** @param title the matrix that is shown, as "Layer 3 · Head 4" */
export function numbers(
  { scope, self, query, key, side, from, whole, rounding }: Picture,
  title: ReadonlySignal<string>,
): HTMLElement {
  const heading = el("strong", {});
  const values = NAMES.map(() => el("dd", {}));
  const rows = NAMES.map((name, at) => el("div", {}, el("dt", {}, name), values[at]));
  const element = el(
    "div",
    { class: "picture-numbers" },
    el("div", { class: "title" }, heading, " from this query"),
    el("dl", {}, ...rows),
  );
  scope.effect(() => {
    heading.textContent = title.value;
    const row = side.value === "query" && from.value.length === 1 ? whole.value : null;
    const areShares = row && Math.abs(row.reduce((sum, each) => sum + each, -1)) < APART;
    // Its place is kept, so that nothing below moves.
    element.style.visibility = areShares ? "" : "hidden";
    if (!areShares) return;
    const place = self ? query.patches?.of[from.value[0]] : null;
    const { entropy, distance, around, most } = summaryOf(
      row,
      key.patches ?? { rows: 0, columns: 0, of: key.names.map(() => null) },
      place ?? null,
    );
    const error = rounding(from.value[0]);
    const texts = [
      `${number(entropy, error > THREE_DECIMALS ? 1 : 2)} nats`,
      `${most} of ${key.names.length}`,
      distance === null
        ? ""
        : `${number(distance, 1)} ${key.patches?.rows === 1 ? "frames" : "patches"}`,
      around === null ? "" : weight(around, AROUND * error),
    ];
    texts.forEach((text, at) => {
      values[at].textContent = text;
      rows[at].style.visibility = text ? "" : "hidden";
    });
  });
  return element;
}
