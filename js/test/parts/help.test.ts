import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { el } from "../../src/parts/dom.ts";
import { help } from "../../src/parts/help.ts";
import { place } from "../place.ts";

function mounted() {
  const made = help();
  place(el("div", {}, made.button, made.panel));
  return made;
}

const note = () => page.getByRole("note", { name: "Keys" });

test("is closed at first, and opened and closed by its button", async () => {
  mounted();
  const button = page.getByRole("button", { name: "Keyboard" });
  expect(note().elements()).toEqual([]);
  await expect.element(button).toHaveAttribute("aria-expanded", "false");
  await userEvent.click(button);
  await expect.element(note()).toBeVisible();
  await expect.element(button).toHaveAttribute("aria-expanded", "true");
  await userEvent.click(button);
  expect(note().elements()).toEqual([]);
});

test("names every key", () => {
  const { panel } = mounted();
  const keys = [...panel.querySelectorAll("dt")].map((term) => term.textContent).join(" ");
  for (const key of ["1", "2", "3", "[", "]", ",", ".", "↑", "↓", "Enter", "Esc", "?"]) {
    expect(keys.split(" ")).toContain(key);
  }
});

test("says whether anything changed, so that Escape knows what it was for", () => {
  const { panel, toggle } = mounted();
  expect(toggle(false)).toBe(false);
  expect(toggle(true)).toBe(true);
  expect(toggle(true)).toBe(false);
  expect(panel.hidden).toBe(false);
  expect(toggle()).toBe(true);
  expect(panel.hidden).toBe(true);
});
