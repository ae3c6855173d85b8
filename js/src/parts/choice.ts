/** A labelled select box, and a toggle button. */

import type { Scope } from "../scheduling/scope.ts";
import type { Choices, OptionName } from "../state/choices.ts";
import { button, el } from "./dom.ts";

export interface Option {
  readonly value: string;
  readonly label: string;
  /** A description, shown on hover. */
  readonly title?: string;
}

/** A value that a control shows and sets, such as a signal; read inside an effect. */
export interface Bound<Value> {
  value: Value;
}

/** A select box with its name before it. */
export function choice<Value extends string>(
  scope: Scope,
  name: string,
  options: readonly Option[],
  bound: Bound<Value>,
): HTMLElement {
  const select = el("select", { "aria-label": name });
  for (const { value, label, title } of options) {
    select.append(el("option", { value, title: title || undefined }, label));
  }
  select.addEventListener("change", () => {
    bound.value = select.value as Value;
  });
  const label = el("span", { class: "label", "aria-hidden": "true" }, name);
  scope.effect(() => {
    select.value = bound.value;
  });
  return el("label", { class: "control" }, label, select);
}

/** The options of one of the reader's choices, in the order of their labels. */
export const optionsOf = <Name extends OptionName>(
  labels: Readonly<Record<Choices[Name], string>>,
): Option[] => Object.entries<string>(labels).map(([value, label]) => ({ value, label }));

/** A toggle button. */
export function toggle(
  scope: Scope,
  name: string,
  title: string,
  bound: Bound<boolean>,
): HTMLElement {
  const element = button({ class: "control toggle", title }, name, () => {
    bound.value = !bound.value;
  });
  scope.effect(() => element.setAttribute("aria-pressed", `${bound.value}`));
  return element;
}
