/** The likeliest predictions with all heads and without some, side by side. */

import type { Change, PredictionEffect } from "../../data/effect.ts";
import { el, svg, tableElement } from "../dom.ts";
import { printed } from "../footer.ts";
import type { Table } from "../table.ts";
import { colored, number } from "../text.ts";

/** The most rows of a list. The kernel sends as many at least. */
const MOST = 8;

/** The height of a row, and the width of the space between the lists, in CSS pixels. */
const ROW = 22;
const BETWEEN = 44;

type Side = "before" | "after";

/** An effect as the panel shows it. */
export interface ShownEffect {
  readonly content: readonly HTMLElement[];
  /** The same in a sentence for screen readers. */
  readonly summary: string;
  readonly table: Table;
}

/** @param query the locked one */
export function predictions(
  effect: PredictionEffect,
  query: number | null,
  others: readonly number[],
): ShownEffect {
  const { changes } = effect;
  const [before, after] = [ranked(changes, "before"), ranked(changes, "after")];
  const largest = Math.max(before[0].before, after[0].after);
  const lists = el(
    "div",
    { class: "predictions", "aria-hidden": "true" },
    list("All heads", before, "before", before[0], largest),
    links(before, after),
    list("Without", after, "after", before[0], largest),
  );
  const title = el("h3", {}, ...titleOf(effect, query));
  return {
    content: [title, numbers(effect, before[0], others), lists, key(), hiddenTable(changes)],
    summary: summaryOf(effect, before[0]),
    table: { name: "Effect", rows: () => [HEADER, ...changes.map(cellsOf)] },
  };
}

/** The likeliest, by rank. */
function ranked(changes: readonly Change[], side: Side): readonly Change[] {
  const rank = (change: Change) => change[`rank_${side}`];
  return [...changes].sort((a, b) => rank(a) - rank(b)).slice(0, MOST);
}

function titleOf(
  { predicts, label, position, only = "" }: PredictionEffect,
  query: number | null,
): readonly (Node | string)[] {
  if (predicts === "class") return ["Class of the text"];
  const what = predicts === "next" ? "Next token after " : "Prediction at ";
  const most = position === query ? "" : `, which changes most${only}`;
  return [what, el("bdi", {}, `“${label}”`), ` (${position})${most}`];
}

/** @param largest the probability of the longest bar */
function list(
  title: string,
  changes: readonly Change[],
  side: Side,
  first: Change,
  largest: number,
): HTMLElement {
  const rows = changes.map((change) => {
    const row = el(
      "div",
      { class: `prediction ${change === first ? "first" : ""}` },
      el("span", { class: "rank" }, `${change[`rank_${side}`]}`),
      el("bdi", { title: change.label }, change.label),
      el("span", { class: "p" }, probability(change[side])),
    );
    row.style.setProperty("--p", `${change[side] / largest}`);
    return row;
  });
  const head = el("div", { class: "head" }, el("span", {}, title), el("span", {}, "p"));
  return el("div", { class: "list" }, head, ...rows);
}

/** Curves from the ranks before to those after. */
function links(before: readonly Change[], after: readonly Change[]): SVGSVGElement {
  const height = ROW * Math.max(before.length, after.length);
  const middle = BETWEEN / 2;
  const curves = before.map((change, from) => {
    const to = after.indexOf(change);
    // Rows that leave the list go to its end.
    const [start, end] = [(from + 0.5) * ROW, to < 0 ? height + ROW / 4 : (to + 0.5) * ROW];
    const kind = change.after < change.before ? "less" : "more";
    return svg("path", {
      d: `M2 ${start}C${middle} ${start} ${middle} ${end} ${BETWEEN - 2} ${end}`,
      class: `${kind} ${to < 0 ? "gone" : ""} ${from ? "" : "first"}`,
    });
  });
  return svg("svg", { width: BETWEEN, height: height + ROW / 2 }, ...curves);
}

/** What the colours of the curves stand for. */
function key(): HTMLElement {
  const square = (name: string) => colored(`var(--${name})`, "■");
  const words = [
    square("positive"),
    " p rises · ",
    square("negative"),
    " p falls · dashed: drops out",
  ];
  return el("div", { class: "remark" }, printed(words));
}

/** The change of the prediction that was likeliest. */
function summaryOf({ divergence }: PredictionEffect, first: Change): string {
  const { label, before, after, rank_before, rank_after } = first;
  const p = `p of ${label} ${probability(before)} → ${probability(after)}`;
  return `${p}, rank ${rank_before} → ${rank_after}, KL divergence ${small(divergence)} nats`;
}

/** The same for screen readers. */
function hiddenTable(changes: readonly Change[]): HTMLElement {
  const cells = ({ label, before, after, rank_before, rank_after }: Change) =>
    [label, probability(before), rank_before, probability(after), rank_after].map((value) =>
      el("td", {}, `${value}`),
    );
  const rows = changes.map((change) => el("tr", {}, ...cells(change)));
  const table = tableElement("Predictions before and after", HEADER, rows);
  // A table of its own would be as large as its content.
  return el("div", { class: "unseen" }, table);
}

const HEADER = ["prediction", "p before", "rank before", "p after", "rank after"];

const cellsOf = ({ label, before, rank_before, after, rank_after }: Change) => [
  label,
  before,
  rank_before,
  after,
  rank_after,
];

function numbers(effect: PredictionEffect, first: Change, others: readonly number[]): HTMLElement {
  const { divergence, mean, positions } = effect;
  const [before, after] = [first.before, first.after].map(Math.log);
  const by = number(after - before);
  const sign = after > before ? "+" : "";
  const name = () => el("bdi", {}, `“${first.label}”`);
  return el(
    "dl",
    {},
    entry(["log p of ", name()], `${number(before)} → ${number(after)} (${sign}${by})`),
    entry(["rank of ", name()], `${first.rank_before} → ${first.rank_after}`),
    entry(["KL divergence, before ‖ after"], `${small(divergence)} nats`),
    ...(positions > 1 ? [entry([`mean of ${positions} positions`], `${small(mean)} nats`)] : []),
    ...beside(others, mean, " nats"),
  );
}

/** The range of the mean effects of as many other heads, as a measure of the one above. */
export function beside(
  others: readonly number[],
  mean: number,
  unit: string,
): readonly HTMLElement[] {
  if (!others.length) return [];
  const [least, most] = [Math.min(...others), Math.max(...others)];
  const verdict = mean > most ? "this is above all" : mean < least ? "this is below all" : "within";
  const name = `of as many other heads (${others.length} draws)`;
  return [entry([name], `${small(least)}–${small(most)}${unit}: ${verdict}`)];
}

export function entry(name: readonly (Node | string)[], value: string): HTMLElement {
  return el("div", {}, el("dt", {}, ...name), el("dd", {}, value));
}

const probability = (p: number): string => (p > 0 && p < 0.0005 ? "<.001" : p.toFixed(3));

/** A number of any size with three digits, and at most four decimals. */
export const small = (value: number): string =>
  value > 0 && value < 0.00005 ? "<0.0001" : value.toFixed(value < 0.1 ? 4 : 2);
