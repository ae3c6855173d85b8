/** The record of a comparison that is shown, A, B or their difference, and what both are. */

import type { Compared } from "../data/manifest.ts";
import type { Scope } from "../scheduling/scope.ts";
import { type Choices, SCHEMA } from "../state/choices.ts";
import type { State } from "../state/state.ts";
import { button, el, setAttributes } from "./dom.ts";

const LABELS: Record<Choices["compared"], string> = { a: "A", b: "B", difference: "B − A" };

/** The keys that choose a record. */
export const COMPARED_KEYS = { a: "a", b: "b", d: "difference" } as const;

export function recordChoice(scope: Scope, { compared }: State): HTMLElement {
  const { options } = SCHEMA.compared;
  const radios = options.map((option) =>
    button({ role: "radio" }, LABELS[option], () => {
      compared.value = option;
    }),
  );
  const group = el(
    "div",
    { class: "radios", role: "radiogroup", "aria-label": "Record" },
    ...radios,
  );
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (options.indexOf(compared.peek()) + step + options.length) % options.length;
    compared.value = options[next];
    radios[next].focus();
  });
  scope.effect(() => {
    options.forEach((option, at) => {
      const checked = option === compared.value;
      setAttributes(radios[at], { "aria-checked": `${checked}`, tabindex: checked ? 0 : -1 });
    });
  });
  const label = el("span", { class: "label", "aria-hidden": "true" }, "Record");
  return el("div", { class: "control records" }, label, group);
}

/** The note that says what A and B are. */
export function recordNames({ names, remark }: Compared): HTMLElement {
  const named = names.map((name, at) => {
    const letter = el("b", {}, "AB".charAt(at));
    return el("span", { class: "record-name" }, letter, el("bdi", {}, name));
  });
  const label = `A: ${names[0]}, B: ${names[1]}`;
  const attributes = { role: "note", class: "record-names", "aria-label": label };
  return el("div", attributes, ...named, el("span", { class: "remark" }, remark));
}
