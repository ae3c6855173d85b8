/** A number with a button on either side: a spinbutton. */

import { effect, type ReadonlySignal } from "@preact/signals-core";
import { el, setAttributes } from "./dom.ts";

export interface StepperOptions {
  readonly name: string;
  readonly value: ReadonlySignal<number>;
  readonly max: ReadonlySignal<number>;
  set(value: number): void;
}

export function stepper({ name, value, max, set }: StepperOptions): [HTMLElement, () => void] {
  // The buttons are for the pointer; the keyboard steps the spinbutton itself.
  const button = (sign: string, step: number) => {
    const element = el("button", { type: "button", tabindex: -1, "aria-hidden": "true" }, sign);
    element.addEventListener("click", () => set(value.peek() + step));
    return element;
  };
  const [down, up] = [button("◂", -1), button("▸", 1)];
  const spin = el("span", {
    role: "spinbutton",
    tabindex: 0,
    "aria-label": name,
    "aria-valuemin": 0,
  });
  spin.addEventListener("keydown", (event) => {
    const step = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
    const edge = { Home: 0, End: max.peek() }[event.key];
    if (step === undefined && edge === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    set(edge ?? value.peek() + (step as number));
  });
  const dispose = effect(() => {
    spin.textContent = `${value.value}`;
    setAttributes(spin, { "aria-valuenow": value.value, "aria-valuemax": max.value });
    down.disabled = value.value <= 0;
    up.disabled = value.value >= max.value;
  });
  const label = el("span", { class: "label", "aria-hidden": "true" }, name);
  return [el("div", { class: "control stepper" }, label, down, spin, up), dispose];
}
