/** A labelled choice of one out of several, and a labelled switch. */

import type { Scope } from "../scheduling/scope.ts";
import type { Choices, OptionName } from "../state/choices.ts";
import { choose, type State } from "../state/state.ts";
import { el } from "./dom.ts";

export interface Option {
  readonly value: string;
  readonly label: string;
  /** What it means, for the pointer. */
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

/**
 * A combobox of all options of one of the reader's choices.
 *
 * @param labels by option, in the order in which they are shown.
 */
export function optionChoice<Name extends OptionName>(
  scope: Scope,
  state: State,
  name: string,
  of: Name,
  labels: Readonly<Record<Choices[Name], string>>,
): HTMLElement {
  return choice(scope, {
    name,
    options: Object.entries<string>(labels).map(([value, label]) => ({ value, label })),
    value: () => state[of].value,
    set: (to) => choose(state, of, to as Choices[Name]),
  });
}

export interface ToggleOptions<Value> {
  readonly name: string;
  readonly title: string;
  /** The values of the choice while the button is up, and while it is pressed. */
  readonly off: Value;
  readonly on: Value;
}

/** A button that stays pressed, for one of the reader's choices. */
export function toggle<Name extends keyof Choices>(
  scope: Scope,
  state: State,
  of: Name,
  { name, title, off, on }: ToggleOptions<Choices[Name]>,
): HTMLElement {
  const button = el("button", { type: "button", class: "control toggle", title }, name);
  const isOn = () => state[of].value === on;
  button.addEventListener("click", () => choose(state, of, isOn() ? off : on));
  scope.effect(() => button.setAttribute("aria-pressed", `${isOn()}`));
  return button;
}
