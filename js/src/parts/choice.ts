/** A labelled select box, and a toggle button. */

import type { Scope } from "../scheduling/scope.ts";
import { el } from "./dom.ts";

export interface Option {
  readonly value: string;
  readonly label: string;
  /** A description, shown on hover. */
  readonly title?: string;
}

export interface ChoiceOptions {
  readonly name: string;
  readonly options: readonly Option[];
  /** Read inside an effect. */
  value(): string;
  set(value: string): void;
}

/** A combobox with its name before it. */
export function choice(scope: Scope, { name, options, value, set }: ChoiceOptions): HTMLElement {
  const select = el("select", { "aria-label": name });
  for (const { value, label, title } of options) {
    select.append(el("option", { value, title: title || undefined }, label));
  }
  select.addEventListener("change", () => set(select.value));
  const label = el("span", { class: "label", "aria-hidden": "true" }, name);
  scope.effect(() => {
    select.value = value();
  });
  return el("label", { class: "control" }, label, select);
}

export interface ToggleOptions {
  readonly name: string;
  readonly title: string;
  /** Read inside an effect. */
  value(): boolean;
  set(value: boolean): void;
}

/** A button that stays pressed. */
export function toggle(scope: Scope, { name, title, value, set }: ToggleOptions): HTMLElement {
  const button = el("button", { type: "button", class: "control toggle", title }, name);
  button.addEventListener("click", () => set(!value()));
  scope.effect(() => button.setAttribute("aria-pressed", `${value()}`));
  return button;
}
