/** The record of a comparison that is shown, A, B or their difference, and what both are. */

import type { Compared } from "../data/manifest.ts";
import type { Scope } from "../scheduling/scope.ts";
import { type Choices, SCHEMA } from "../state/choices.ts";
import type { State } from "../state/state.ts";
import { exclusive } from "./choice.ts";
import { el } from "./dom.ts";

const LABELS: Record<Choices["compared"], string> = { a: "A", b: "B", difference: "B − A" };

/** The keys that choose a record. */
export const COMPARED_KEYS = { a: "a", b: "b", d: "difference" } as const;

export function recordChoice(scope: Scope, { compared }: State): HTMLElement {
  const options = SCHEMA.compared.options.map((name) => ({ name, label: LABELS[name] }));
  const group = exclusive(scope, { role: "radio", name: "Record" }, options, compared);
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
