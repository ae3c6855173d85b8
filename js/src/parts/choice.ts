/** A labelled choice of one out of several, and a labelled switch. */

import { effect } from "@preact/signals-core";
import { el } from "./dom.ts";

export interface Option {
  readonly value: string;
  readonly label: string;
}

export interface ChoiceOptions {
  readonly name: string;
  readonly options: readonly Option[];
  /** Read inside an effect. */
  value(): string;
  set(value: string): void;
}

/** A combobox with its name before it. */
export function choice({ name, options, value, set }: ChoiceOptions): [HTMLElement, () => void] {
  const select = el("select", { "aria-label": name });
  for (const option of options) select.append(el("option", { value: option.value }, option.label));
  select.addEventListener("change", () => set(select.value));
  const label = el("span", { class: "label", "aria-hidden": "true" }, name);
  const dispose = effect(() => {
    select.value = value();
  });
  return [el("label", { class: "control" }, label, select), dispose];
}

export interface ToggleOptions {
  readonly name: string;
  readonly title: string;
  /** Read inside an effect. */
  value(): boolean;
  set(value: boolean): void;
}

/** A button that stays pressed. */
export function toggle({ name, title, value, set }: ToggleOptions): [HTMLElement, () => void] {
  const button = el("button", { type: "button", class: "control toggle", title }, name);
  button.addEventListener("click", () => set(!value()));
  const dispose = effect(() => button.setAttribute("aria-pressed", `${value()}`));
  return [button, dispose];
}
