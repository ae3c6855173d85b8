/** The list of sentences: the share of each, beside an even one. */

import { computed, type ReadonlySignal, type Signal } from "@preact/signals-core";
import type { RunningText } from "../../data/manifest.ts";
import { button, el } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { isMarked, type Look } from "./shares.ts";

/** The rows that are shown at first. */
const FEW = 8;

interface Listed {
  readonly text: RunningText;
  readonly look: ReadonlySignal<Look>;
  readonly part: Signal<number | null>;
  readonly pointed: Signal<number | null>;
}

export const percent = (share: number): string =>
  `${share < 0.0995 ? (100 * share).toFixed(1) : Math.round(100 * share)}%`;

/** The text of a sentence. */
export function sentenceText({ text, offsets, sentences }: RunningText, index: number): string {
  const [first, end] = sentences[index];
  return text.slice(offsets[2 * first], offsets[2 * end - 1]).trim();
}

export function partList(scope: Scope, { text, look, part, pointed }: Listed): HTMLElement {
  const body = el("tbody", {});
  const head = ["part of the prompt", "", "share", "even"].map((name) =>
    el("th", { scope: "col" }, name),
  );
  const table = el(
    "table",
    { "aria-label": "Where it looks" },
    el("thead", {}, el("tr", {}, ...head)),
    body,
  );
  const widest = computed(() => Math.max(...look.value.parts.map(({ share }) => share), 0.01));
  let all = false;
  const more = button({ class: "more" }, "", () => {
    all = !all;
    fill(look.peek());
  });
  const fill = ({ parts }: Look) => {
    const rows = parts.slice(0, all ? parts.length : FEW).map(({ index, share, even }) => {
      const sentence = sentenceText(text, index);
      const row = el(
        "tr",
        { class: isMarked({ share, even }) ? "marked" : "" },
        el(
          "th",
          { scope: "row", title: sentence },
          el("span", { class: "number" }, `${index + 1}`),
          button(
            { "aria-pressed": `${part.peek() === index}`, "data-part": index },
            sentence,
            () => {
              part.value = part.peek() === index ? null : index;
            },
          ),
        ),
        el("td", { class: "share-bar" }, bar(share / widest.peek(), even / widest.peek())),
        el("td", {}, percent(share)),
        el("td", { class: "range" }, percent(even)),
      );
      row.addEventListener("pointerenter", () => {
        pointed.value = index;
      });
      row.addEventListener("pointerleave", () => {
        pointed.value = null;
      });
      return row;
    });
    body.replaceChildren(...rows);
    more.hidden = parts.length <= FEW;
    more.textContent = all ? "Fewer" : `${parts.length - FEW} more`;
  };
  scope.effect(() => fill(look.value));
  scope.effect(() => {
    for (const each of body.querySelectorAll<HTMLElement>("[data-part]")) {
      each.setAttribute("aria-pressed", `${Number(each.dataset.part) === part.value}`);
    }
    for (const [at, row] of [...body.children].entries()) {
      row.classList.toggle("pointed", look.value.parts[at]?.index === pointed.value);
    }
  });
  return el("div", { class: "parts" }, table, more);
}

/** A bar with a tick for the even share. */
function bar(share: number, even: number): HTMLElement {
  const element = el("span", { class: "tick-bar", "aria-hidden": "true" });
  element.style.setProperty("--share", `${share}`);
  element.style.setProperty("--even", `${Math.min(1, even)}`);
  return element;
}
