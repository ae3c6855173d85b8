/** Controls of a choice: select box, toggle, group of exclusive buttons, stepper. */

import type { ReadonlySignal, Signal } from "@preact/signals-core";
import { same } from "../basics/same.ts";
import type { Scope } from "../scheduling/scope.ts";
import type { Choices, OptionName } from "../state/choices.ts";
import { button, el, setAttributes } from "./dom.ts";

export interface Option {
  readonly value: string;
  readonly label: string;
  /** A description, shown on hover. */
  readonly title?: string;
  /** True if it cannot be chosen. */
  readonly off?: boolean;
}

/** A value that a control shows and sets, such as a signal; read inside an effect. */
export interface Bound<Value> {
  value: Value;
}

/** A value for a control that is no signal. */
export const bound = <Value>(get: () => Value, set: (value: Value) => void): Bound<Value> => ({
  get value() {
    return get();
  },
  set value(value) {
    set(value);
  },
});

/**
 * A select box with its name before it. A value that is not among the options is shown as the first.
 *
 * @param options a function is read inside an effect
 */
export function choice<Value extends string>(
  scope: Scope,
  name: string,
  options: readonly Option[] | (() => readonly Option[]),
  bound: Bound<Value>,
): HTMLElement {
  const select = el("select", { "aria-label": name });
  select.addEventListener("change", () => {
    bound.value = select.value as Value;
  });
  const label = el("span", { class: "label", "aria-hidden": "true" }, name);
  let filled: readonly Option[] | null = null;
  scope.effect(() => {
    const current = typeof options === "function" ? options() : options;
    // Keep equal options: a new list closes the one that the reader has opened.
    if (!same(current, filled)) {
      filled = current;
      select.replaceChildren(
        ...current.map(({ value, label, title, off }) =>
          el("option", { value, title: title || undefined, disabled: off }, label),
        ),
      );
    }
    const shown = current.find(({ value }) => value === bound.value) ?? current[0];
    select.value = shown?.value ?? "";
  });
  return el("label", { class: "control" }, label, select);
}

/** The options of one of the reader's choices, in the order of their labels. */
export const optionsOf = <Name extends OptionName>(
  labels: Readonly<Record<Choices[Name], string>>,
): Option[] => Object.entries<string>(labels).map(([value, label]) => ({ value, label }));

/** Buttons of which one is chosen: tabs, or radio buttons. A click or an arrow key chooses another. */
export function exclusive<Name extends string>(
  scope: Scope,
  { role, name }: { readonly role: "tab" | "radio"; readonly name: string },
  options: readonly { readonly name: Name; readonly label: string }[],
  chosen: Signal<Name>,
): HTMLElement {
  const isTab = role === "tab";
  const buttons = options.map(({ name, label }) => {
    const attributes = isTab ? { id: `tab-${name}`, "aria-controls": "view" } : {};
    return button({ role, ...attributes }, label, () => {
      chosen.value = name;
    });
  });
  const group = el(
    "div",
    { class: !isTab && "radios", role: isTab ? "tablist" : "radiogroup", "aria-label": name },
    ...buttons,
  );
  const steps = { ArrowRight: 1, ArrowLeft: -1, ...(isTab ? {} : { ArrowDown: 1, ArrowUp: -1 }) };
  group.addEventListener("keydown", (event) => {
    const step = (steps as Partial<Record<string, number>>)[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = options.findIndex(({ name }) => name === chosen.peek());
    const next = (at + step + options.length) % options.length;
    chosen.value = options[next].name;
    buttons[next].focus();
  });
  scope.effect(() => {
    options.forEach(({ name }, at) => {
      const is = name === chosen.value;
      const state = { [isTab ? "aria-selected" : "aria-checked"]: `${is}` };
      setAttributes(buttons[at], { ...state, tabindex: is ? 0 : -1 });
    });
  });
  return group;
}

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

interface StepperOptions {
  readonly name: string;
  readonly value: ReadonlySignal<number>;
  /** The values in increasing order, possibly with gaps. */
  readonly values: ReadonlySignal<readonly number[]>;
  set(value: number): void;
}

/** A spinbutton with a button on either side. */
export function stepper(scope: Scope, { name, value, values, set }: StepperOptions): HTMLElement {
  const step = (by: number) => {
    const all = values.peek();
    const to = all[all.indexOf(value.peek()) + by];
    if (to !== undefined) set(to);
  };
  // The buttons are for the pointer only; the keyboard uses the spinbutton.
  const hidden = { tabindex: -1, "aria-hidden": "true" };
  const down = button(hidden, "◂", () => step(-1));
  const up = button(hidden, "▸", () => step(1));
  const spin = el("span", { role: "spinbutton", tabindex: 0, "aria-label": name });
  spin.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
    const edge = { Home: 0, End: -1 }[event.key];
    if (by === undefined && edge === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (by !== undefined) step(by);
    else set(values.peek().at(edge as number) as number);
  });
  scope.effect(() => {
    spin.textContent = `${value.value}`;
    const [min, max] = [values.value[0], values.value.at(-1) as number];
    setAttributes(spin, {
      "aria-valuenow": value.value,
      "aria-valuemin": min,
      "aria-valuemax": max,
    });
    // Not "disabled", with which the pressed button would lose the focus.
    setAttributes(down, { "aria-disabled": `${value.value <= min}` });
    setAttributes(up, { "aria-disabled": `${value.value >= max}` });
  });
  const label = el("span", { class: "label", "aria-hidden": "true" }, name);
  return el("div", { class: "control stepper" }, label, down, spin, up);
}
