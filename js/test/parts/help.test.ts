import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { el } from "../../src/parts/dom.ts";
import { help } from "../../src/parts/help.ts";
import type { ViewName } from "../../src/state/choices.ts";
import { VIEWS } from "../../src/views/index.ts";
import { place } from "../support/place.ts";

function mounted(names = Object.keys(VIEWS) as readonly ViewName[]) {
  const made = help(
    () => {},
    names.map((name) => VIEWS[name]),
  );
  place(el("div", {}, made.button, made.panel));
  return made;
}

const dialog = page.getByRole("dialog", { name: "Keyboard and pointer" });
const button = page.getByRole("button", { name: "Keyboard" });
const close = dialog.getByRole("button", { name: "Close" });

test("is closed at first; the focus goes in and comes back", async () => {
  mounted();
  await expect.element(dialog).not.toBeInTheDocument();
  await userEvent.click(button);
  await expect.element(dialog).toBeVisible();
  await expect.element(close).toHaveFocus();
  await userEvent.keyboard("{Escape}");
  await expect.element(dialog).not.toBeInTheDocument();
  await expect.element(button).toHaveFocus();
});

test("its own button closes it, and so does a click beside it", async () => {
  const { panel } = mounted();
  await userEvent.click(button);
  await userEvent.click(dialog.getByText("Head view", { exact: true }));
  expect(panel.open).toBe(true);
  await userEvent.click(close);
  expect(panel.open).toBe(false);
  await userEvent.click(button);
  await userEvent.click(panel, { position: { x: 1 - panel.getBoundingClientRect().x, y: 1 } });
  expect(panel.open).toBe(false);
});

test("a question mark closes it, and no other key leaves it", async () => {
  const { panel } = mounted();
  const heard: string[] = [];
  panel.parentElement?.addEventListener("keydown", ({ key }) => heard.push(key));
  await userEvent.click(button);
  await userEvent.keyboard("]c2?");
  expect(panel.open).toBe(false);
  expect(heard).toEqual([]);
});

test("names every key", () => {
  const { panel } = mounted();
  const keys = [...panel.querySelectorAll("dt")].map((term) => term.textContent).join(" ");
  for (const key of [
    "1",
    "2",
    "3",
    "[",
    "]",
    ",",
    ".",
    "/",
    "c",
    "h",
    "j",
    "↑",
    "↓",
    "Enter",
    "Esc",
    "?",
  ]) {
    expect(keys.split(" ")).toContain(key);
  }
});

test("without the head view, nothing leads to it", () => {
  const text = (views: readonly ViewName[]) => mounted(views).panel.textContent;
  expect(text(["head", "model"])).toMatch(/Enter.*go to the head's own view.*go to its head view/);
  expect(text(["model"])).toMatch(/lock the token, or open the head/);
  expect(text(["model", "neuron"])).not.toMatch(/own view|head view/i);
  expect(text(["head", "neuron"])).not.toMatch(/own view|open the head/);
});

test("it names the views that there are, and nothing of others", () => {
  const lists = (views?: readonly ViewName[]) => {
    const { panel } = mounted(views);
    const names = [...panel.querySelectorAll("dl")].map((list) => list.ariaLabel);
    return { names, first: panel.querySelector("dl dt")?.textContent };
  };
  expect(lists().first).toBe("1 2 3 4 5 6");
  const some = lists(["model", "neuron"]);
  expect(some).toEqual({
    names: ["Keys", "Pointer", "Model view", "Neuron view"],
    first: "1 2",
  });
  // There is nothing to choose.
  expect(lists(["head"]).first).toBe("[ ]");
});
