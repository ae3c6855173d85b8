/** A spinbutton with a button on either side. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Scope } from "../scheduling/scope.ts";
import { button, el, setAttributes } from "./dom.ts";

export interface StepperOptions {
  readonly name: string;
  readonly value: ReadonlySignal<number>;
  /** The values in increasing order, possibly with gaps. */
  readonly values: ReadonlySignal<readonly number[]>;
  set(value: number): void;
}

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
