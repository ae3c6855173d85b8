import { signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { stepper } from "../../src/parts/choice.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";

const upTo = (max: number) => Array.from({ length: max + 1 }, (_, n) => n);

/** A stepper over some numbers, and every number that it asked for. */
function mounted(value: number, all: readonly number[]) {
  const [current, values] = [signal(value), signal(all)];
  const asked: number[] = [];
  const scope = testScope();
  const element = stepper(scope, {
    name: "Layer",
    value: current,
    values,
    set(next) {
      asked.push(next);
      current.value = next;
    },
  });
  place(element);
  const spin = page.getByRole("spinbutton", { name: "Layer", exact: true });
  return { current, values, asked, element, scope, spin };
}

test("says its name, value and range", async () => {
  const { spin } = mounted(2, upTo(5));
  for (const [name, value] of [
    ["aria-valuenow", "2"],
    ["aria-valuemin", "0"],
    ["aria-valuemax", "5"],
  ]) {
    await expect.element(spin).toHaveAttribute(name, value);
  }
  await expect.element(spin).toHaveTextContent("2");
});

test("follows its value and its range", async () => {
  const { spin, current, values } = mounted(2, upTo(5));
  current.value = 4;
  values.value = upTo(11);
  await expect.element(spin).toHaveAttribute("aria-valuenow", "4");
  await expect.element(spin).toHaveAttribute("aria-valuemax", "11");
});

test.for([
  { key: "{ArrowUp}", to: 3 },
  { key: "{ArrowRight}", to: 3 },
  { key: "{ArrowDown}", to: 1 },
  { key: "{ArrowLeft}", to: 1 },
  { key: "{Home}", to: 0 },
  { key: "{End}", to: 5 },
])("$key asks for $to", async ({ key, to }) => {
  const { spin, asked, current } = mounted(2, upTo(5));
  (spin.element() as HTMLElement).focus();
  await userEvent.keyboard(key);
  expect(asked).toEqual([to]);
  expect(current.value).toBe(to);
});

test("numbers that are missing are stepped over", async () => {
  const { spin, element, current, asked } = mounted(7, [3, 7, 11]);
  await expect.element(spin).toHaveAttribute("aria-valuemin", "3");
  await expect.element(spin).toHaveAttribute("aria-valuemax", "11");
  (spin.element() as HTMLElement).focus();
  await userEvent.keyboard("{ArrowUp}{ArrowUp}{Home}{ArrowDown}{End}");
  expect(asked).toEqual([11, 3, 11]);
  const [down] = element.querySelectorAll("button");
  await userEvent.click(down);
  await userEvent.click(down);
  expect(current.value).toBe(3);
  expect(down.getAttribute("aria-disabled")).toBe("true");
});

test("keys that step do not scroll the page or reach what is around; others do", async () => {
  const { spin, element, asked } = mounted(2, upTo(5));
  const outside: string[] = [];
  const unstopped: string[] = [];
  element.addEventListener("keydown", (event) => outside.push(event.key));
  spin.element().addEventListener("keydown", (event) => {
    if (!(event as KeyboardEvent).defaultPrevented) unstopped.push((event as KeyboardEvent).key);
  });
  (spin.element() as HTMLElement).focus();
  await userEvent.keyboard("{ArrowDown}{End}{]}a");
  expect(asked).toEqual([1, 5]);
  expect(outside).toEqual(["]", "a"]);
  expect(unstopped).toEqual(["]", "a"]);
});

test("the buttons step, and rest at either end, where they keep the focus", async () => {
  const { element, current } = mounted(1, upTo(2));
  const [down, up] = element.querySelectorAll("button");
  const resting = () => [down, up].map((button) => button.getAttribute("aria-disabled"));
  await userEvent.click(up);
  expect(current.value).toBe(2);
  expect(resting()).toEqual(["false", "true"]);
  // A disabled button would leave the focus, and with it all keys, to the page.
  expect(document.activeElement).toBe(up);
  await userEvent.click(down);
  await userEvent.click(down);
  expect(current.value).toBe(0);
  expect(resting()).toEqual(["true", "false"]);
});

test("the buttons are the pointer's alone: one thing to hear and to tab to", async () => {
  const { element } = mounted(1, upTo(2));
  expect(page.elementLocator(element).getByRole("button").elements()).toEqual([]);
  await userEvent.tab();
  expect(document.activeElement?.getAttribute("role")).toBe("spinbutton");
  await userEvent.tab();
  expect(element.contains(document.activeElement)).toBe(false);
});

test("is at rest once its scope has ended", () => {
  const { spin, current, scope } = mounted(2, upTo(5));
  scope.end();
  current.value = 4;
  expect(spin.element().getAttribute("aria-valuenow")).toBe("2");
});
