/** The list of parts: the share of each, what it is compared with, and what its cut changes. */

import { computed, type ReadonlySignal, type Signal, untracked } from "@preact/signals-core";
import type { RunningText } from "../../data/manifest.ts";
import type { Bound } from "../../parts/choice.ts";
import { button, el } from "../../parts/dom.ts";
import { icon } from "../../parts/icons.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { type Cutting, changeOf, nats } from "./cutting.ts";
import { isMarked, type Look, type Part, type Span } from "./shares.ts";

/** The rows that are shown at first. */
const FEW = 8;

interface Listed {
  readonly text: RunningText;
  readonly parts: readonly Part[];
  /** The word for a part. */
  readonly unit: string;
  readonly look: ReadonlySignal<Look>;
  readonly part: Bound<number | null>;
  readonly pointed: Signal<number | null>;
  /** The tokens of the answer that are looked at. */
  readonly span: ReadonlySignal<Span>;
  readonly cutting: Cutting;
}

const NO_KERNEL = "Cutting runs the model: open this in a notebook.";

export const percent = (share: number): string =>
  `${share < 0.0995 ? (100 * share).toFixed(1) : Math.round(100 * share)}%`;

/** The text of a part. */
export const partText = ({ text, offsets }: RunningText, { start, end }: Part): string =>
  text.slice(offsets[2 * start], offsets[2 * end - 1]).trim();

export function partList(
  scope: Scope,
  { text, parts, unit, look, part, pointed, span, cutting }: Listed,
): HTMLElement {
  const { cuts, live, without } = cutting;
  const body = el("tbody", {});
  const named = (name: string | HTMLElement) => el("th", { scope: "col" }, name);
  const besideHead = named("");
  const head = [...["part of the prompt", "", "share"].map(named), besideHead];
  const hasCuts = Boolean(text.answer) && (live || cuts.peek().some(Boolean));
  if (hasCuts) {
    const all = button({ title: "Cut each part in turn (key e)" }, "if cut", () =>
      cutting.measure(unmeasured(cutting)),
    );
    if (live) all.prepend(icon("scissors"));
    head.push(named(live ? all : "if cut"));
  }
  const table = el(
    "table",
    { "aria-label": "Where it looks" },
    el("thead", {}, el("tr", {}, ...head)),
    body,
  );
  const widest = computed(() => Math.max(...look.value.parts.map(({ share }) => share), 0.01));
  const ifCut = (index: number) => {
    const change = changeOf(cuts.value[index], span.value);
    const pressed = without.value === index;
    if (change === null && !live) return "–";
    const label = `Cut ${unit} ${index + 1}`;
    const cut = button(
      {
        class: change !== null && change <= -0.5 ? "less" : "",
        ...{ title: label, "aria-label": change === null ? label : `${label}: ${nats(change)}` },
        "aria-pressed": `${pressed}`,
      },
      change === null ? "" : nats(change),
      () => cutting.toggle(index),
    );
    if (change === null) cut.append(icon("scissors"));
    return cut;
  };
  let all = false;
  const more = button({ class: "more" }, "", () => {
    all = !all;
    fill(look.peek());
  });
  const fill = (now: Look) => {
    besideHead.textContent = now.beside;
    const rows = now.parts.slice(0, all ? undefined : FEW).map(({ index, share, beside }) => {
      const sentence = partText(text, parts[index]);
      const row = el(
        "tr",
        { class: isMarked({ share, beside }) ? "marked" : "" },
        el(
          "th",
          { scope: "row", title: sentence },
          el("span", { class: "number" }, `${index + 1}`),
          button(
            { "aria-pressed": `${untracked(() => part.value) === index}`, "data-part": index },
            sentence,
            () => {
              part.value = part.value === index ? null : index;
            },
          ),
        ),
        el("td", { class: "share-bar" }, bar(share / widest.peek(), beside / widest.peek())),
        el("td", {}, percent(share)),
        el("td", { class: "range" }, percent(beside)),
        ...(hasCuts ? [el("td", {}, ifCut(index))] : []),
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
    more.hidden = now.parts.length <= FEW;
    more.textContent = all ? "Fewer" : `${now.parts.length - FEW} more`;
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
  const note = el("p", { class: "note", role: "status" });
  scope.effect(() => {
    note.textContent = cutting.message.value || (live || !text.answer || hasCuts ? "" : NO_KERNEL);
  });
  return el("div", { class: hasCuts ? "parts with-cuts" : "parts" }, table, more, note);
}

/** The parts whose cut is not measured. */
export const unmeasured = ({ cuts }: Cutting): readonly number[] =>
  cuts.peek().flatMap((cut, part) => (cut ? [] : [part]));

/** A bar with a tick for what it is compared with. */
function bar(share: number, beside: number): HTMLElement {
  const element = el("span", { class: "tick-bar", "aria-hidden": "true" });
  element.style.setProperty("--share", `${share}`);
  element.style.setProperty("--even", `${Math.min(1, beside)}`);
  return element;
}
