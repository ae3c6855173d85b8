/** The answer without its links to a part: probabilities beside those of other cuts. */

import { button, el, replaceContent, tableElement, tableRow } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { changeOf, nats } from "./cutting.ts";
import type { Reading } from "./reading.ts";

/** The most tokens whose probabilities are listed one by one. */
const MOST = 5;

export function withoutPart(
  scope: Scope,
  { text: { answer }, parts, shown: span, cutting: { cuts, without, toggle } }: Reading,
): HTMLElement {
  const element = el("section", { class: "without" });
  scope.effect(() => {
    const [part, [first, last]] = [without.value, span.value];
    const cut = part === null ? null : cuts.value[part];
    element.hidden = part === null;
    if (part === null || !answer) return;
    const named = parts[part].name;
    const chip = button({ class: "chip", title: "Show the answer as it was" }, named, () =>
      toggle(part),
    );
    chip.append(el("span", { class: "close", "aria-hidden": "true" }, " ×"));
    const title = el("p", { class: "title" }, el("strong", {}, "Without "), chip);
    const show = (...content: (Node | string)[]) =>
      replaceContent(element, el("div", {}, title, ...content));
    if (!cut) return show();
    const tokens = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    const listed = tokens.length > MOST ? [] : tokens;
    const p = (token: number, by: number) => Math.min(1, answer.p[token] * Math.exp(by)).toFixed(3);
    const others = cuts.value.flatMap((each, at) => (each && at !== part ? [each] : []));
    const range = (numbers: readonly number[], written: (number: number) => string) =>
      [...new Set([Math.min(...numbers), Math.max(...numbers)].map(written))].join(" … ");
    const row = (name: string, numbers: readonly string[], by: string, marked = "") => {
      const shown = tableRow(name, [...numbers, by]);
      shown.className = marked;
      return shown;
    };
    const before = listed.map((token) => p(token, 0));
    const rows = [
      ...(listed.length ? [row("p as it was", before, "")] : []),
      row(
        `without ${named}`,
        listed.map((token) => p(token, cut.changes[token])),
        nats(changeOf(cut, span.value) ?? 0),
        "marked",
      ),
    ];
    if (others.length) {
      const of = (token: number) => others.map(({ changes }) => changes[token]);
      const sums = others.map((each) => changeOf(each, span.value) ?? 0);
      rows.push(
        row(
          `without any one of ${others.length} others`,
          listed.map((token) => range(of(token), (by) => p(token, by))),
          range(sums, nats),
          "range",
        ),
      );
    }
    const head = ["", ...listed.map((token) => answer.labels[token]), "Δ log p"];
    const table = tableElement(`Without ${named}`, head, rows);
    const then = cut.answer === null ? "" : rewritten(answer.text, cut.answer);
    show(table, then);
  });
  return element;
}

/** What the model would answer, from the first new word on tinted. */
function rewritten(before: string, after: string): HTMLElement {
  if (before === after) {
    return el("p", { class: "note" }, "It would answer the same, word for word.");
  }
  const [old, words] = [before, after].map((text) => text.split(/(?<=\s)/));
  let same = 0;
  while (same < words.length && words[same] === old[same]) same++;
  return el(
    "p",
    { class: "note" },
    "It would answer: ",
    el("span", { class: "kept" }, words.slice(0, same).join("")),
    el("mark", {}, words.slice(same).join("") || "(nothing more)"),
  );
}
