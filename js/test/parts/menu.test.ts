import { signal } from "@preact/signals-core";
import { expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { el } from "../../src/parts/dom.ts";
import { themeMenu } from "../../src/parts/header.ts";
import { type MenuItem, menuButton } from "../../src/parts/menu.ts";
import { stateOf } from "../support/choices.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";

function mounted(names: readonly string[] = ["Row", "Matrix", "Vectors"]) {
  const choose = vi.fn();
  const items = signal<readonly MenuItem[]>(
    names.map((name) => ({ name, choose: () => choose(name) })),
  );
  const element = menuButton(testScope(), {
    name: "Copy",
    title: "Copy numbers",
    icon: () => "copy",
    items: () => items.value,
  });
  const outside = vi.fn();
  const around = place(el("div", {}, element, el("button", {}, "beside")));
  around.addEventListener("keydown", (event) => outside(event.key));
  return { choose, items, outside };
}

const button = page.getByRole("button", { name: "Copy" });
const menu = page.getByRole("menu", { name: "Copy" });
const item = (name: string) => menu.getByRole("menuitem", { name });

test("opens with its button, the focus on the first, and closes with it", async () => {
  mounted();
  await expect.element(menu).not.toBeInTheDocument();
  await expect.element(button).toHaveAttribute("aria-expanded", "false");
  await userEvent.click(button);
  await expect.element(menu).toBeVisible();
  await expect.element(button).toHaveAttribute("aria-expanded", "true");
  await expect.element(item("Row")).toHaveFocus();
  await userEvent.click(button);
  await expect.element(menu).not.toBeInTheDocument();
  await expect.element(button).toHaveFocus();
});

test("is walked through with arrows, Home and End", async () => {
  const { outside } = mounted();
  (button.element() as HTMLElement).focus();
  await userEvent.keyboard("{Enter}");
  outside.mockClear();
  for (const [key, name] of [
    ["{ArrowDown}", "Matrix"],
    ["{End}", "Vectors"],
    ["{ArrowDown}", "Row"],
    ["{ArrowUp}", "Vectors"],
    ["{Home}", "Row"],
  ] as const) {
    await userEvent.keyboard(key);
    await expect.element(item(name)).toHaveFocus();
  }
  // Nothing of it is a shortcut.
  await userEvent.keyboard("c2");
  expect(outside).not.toHaveBeenCalled();
});

test.for([
  ["{ArrowDown}", "Row"],
  ["{ArrowUp}", "Vectors"],
] as const)("%s on the button opens it at %s", async ([key, name]) => {
  mounted();
  (button.element() as HTMLElement).focus();
  await userEvent.keyboard(key);
  await expect.element(item(name)).toHaveFocus();
});

test.for(["{Enter}", " "])("'%s' chooses, closes, and gives the focus back", async (key) => {
  const { choose } = mounted();
  (button.element() as HTMLElement).focus();
  await userEvent.keyboard(`{Enter}{ArrowDown}${key}`);
  expect(choose.mock.calls).toEqual([["Matrix"]]);
  await expect.element(menu).not.toBeInTheDocument();
  await expect.element(button).toHaveFocus();
});

test("a click chooses too", async () => {
  const { choose } = mounted();
  await userEvent.click(button);
  await userEvent.click(item("Vectors"));
  expect(choose.mock.calls).toEqual([["Vectors"]]);
  await expect.element(menu).not.toBeInTheDocument();
});

test("Escape closes it and nothing else", async () => {
  const { choose, outside } = mounted();
  await userEvent.click(button);
  await userEvent.keyboard("{Escape}");
  await expect.element(menu).not.toBeInTheDocument();
  await expect.element(button).toHaveFocus();
  expect(choose).not.toHaveBeenCalled();
  expect(outside).not.toHaveBeenCalled();
});

test("closes when the focus goes elsewhere, by click or by Tab", async () => {
  mounted();
  const beside = page.getByRole("button", { name: "beside" });
  await userEvent.click(button);
  await userEvent.click(beside);
  await expect.element(menu).not.toBeInTheDocument();
  await expect.element(beside).toHaveFocus();
  await userEvent.click(button);
  await userEvent.tab();
  await expect.element(menu).not.toBeInTheDocument();
  await expect.element(beside).toHaveFocus();
});

test("without items it is disabled, but keeps the focus", async () => {
  const { items } = mounted();
  (button.element() as HTMLElement).focus();
  await userEvent.keyboard("{Enter}");
  items.value = [];
  await expect.element(menu).not.toBeInTheDocument();
  await expect.element(button).toHaveFocus();
  await expect.element(button).toHaveAttribute("aria-disabled", "true");
  await userEvent.keyboard("{Enter}{ArrowDown}");
  await expect.element(menu).not.toBeInTheDocument();
});

test("stays open while what it offers changes", async () => {
  const { items } = mounted();
  await userEvent.click(button);
  items.value = [...items.value].reverse();
  await expect.element(menu).toBeVisible();
});

test("the theme is one of three", async () => {
  const state = stateOf();
  place(themeMenu(testScope(), state));
  const theme = page.getByRole("button", { name: "Theme" });
  const radio = (name: string) => page.getByRole("menuitemradio", { name });
  await userEvent.click(theme);
  await expect.element(radio("Auto")).toHaveAttribute("aria-checked", "true");
  await userEvent.click(radio("Dark"));
  expect(state.theme.value).toBe("dark");
  await userEvent.click(theme);
  await expect.element(radio("Dark")).toHaveAttribute("aria-checked", "true");
  await expect.element(radio("Auto")).toHaveAttribute("aria-checked", "false");
  // The place of the chosen item.
  await expect.element(radio("Dark")).toHaveFocus();
});
