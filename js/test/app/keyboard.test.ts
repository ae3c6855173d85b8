/** Every action has a key, and none loses the keyboard's place. */

import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { focus, parts } from "../support/locators.ts";
import { drawn, mountApp } from "../support/mounted.ts";
import { place, twoFrames } from "../support/place.ts";
import { expectNoProblems } from "../support/problems.ts";

expectNoProblems();

const { list, number, selected, heads, grid } = parts();

test("steps through layers and heads from anywhere in the view", async () => {
  const app = await mountApp();
  await drawn(app);
  focus(list("Queries"));
  await userEvent.keyboard("]");
  expect(number("Layer")).toBe(1);
  await userEvent.keyboard(".");
  expect([number("Layer"), number("Head")]).toEqual([1, 1]);
  await userEvent.keyboard(",");
  expect(number("Head")).toBe(0);
  await userEvent.keyboard("[[");
  expect(number("Layer")).toBe(0);
});

test("keeps its list when the layer changes", async () => {
  const app = await mountApp();
  await drawn(app);
  focus(list("Keys"));
  await userEvent.keyboard("]");
  await expect.poll(heads).toBe(2);
  expect(app.shadow.activeElement?.getAttribute("aria-label")).toBe("Keys");
});

test("keeps its token when the layer changes", async () => {
  const app = await mountApp();
  await drawn(app);
  focus(list("Keys"));
  await userEvent.keyboard("{ArrowDown}{ArrowDown}");
  expect(app.state.focus.value).toEqual({ query: null, key: 1 });
  await userEvent.keyboard("]");
  await expect.poll(heads).toBe(2);
  await userEvent.keyboard("{ArrowDown}");
  expect(app.state.focus.value).toEqual({ query: null, key: 2 });
});

test("goes on working after it has changed the view", async () => {
  const app = await mountApp();
  await drawn(app);
  focus(list("Queries"));
  for (const [key, view] of [
    ["2", "model"],
    ["3", "neuron"],
    ["1", "head"],
  ]) {
    await userEvent.keyboard(key);
    expect(app.state.view.value).toBe(view);
    await twoFrames();
  }
});

test("goes on working after it has opened a head", async () => {
  const app = await mountApp({ choices: { view: "model" } });
  await expect.element(grid).toBeInTheDocument();
  focus(grid);
  await userEvent.keyboard("{ArrowRight}{Enter}");
  await drawn(app);
  await userEvent.keyboard("]");
  expect(number("Layer")).toBe(1);
});

test("locks a token with Enter, and releases it with Escape", async () => {
  const app = await mountApp();
  await drawn(app);
  focus(list("Queries"));
  await userEvent.keyboard("{ArrowDown}{ArrowDown}{ArrowDown}{Enter}");
  expect(selected("Queries")).toEqual(["cat"]);
  await userEvent.keyboard("{Escape}");
  expect(selected("Queries")).toEqual([]);
  expect(app.state.focus.value).toEqual({ query: null, key: null });
});

test("opens and closes the list of keys", async () => {
  const app = await mountApp();
  await drawn(app);
  const keys = page.getByRole("dialog", { name: "Keyboard and pointer" });
  focus(list("Queries"));
  await userEvent.keyboard("?");
  await expect.element(keys).toBeVisible();
  await userEvent.keyboard("{Escape}");
  await expect.element(keys).not.toBeInTheDocument();
  expect(app.shadow.activeElement).toBe(list("Queries").element());
});

test("works after a click on what is not a control", async () => {
  const app = await mountApp();
  await drawn(app);
  await userEvent.click(page.getByRole("status"));
  await userEvent.keyboard("]");
  expect(number("Layer")).toBe(1);
});

test("takes the keys of a page that has nothing else", async () => {
  const app = await mountApp({ around: { height: 0, alone: true } });
  await drawn(app);
  expect(document.activeElement).toBe(document.body);
  await userEvent.keyboard("]");
  expect(number("Layer")).toBe(1);
  // A key is taken once, and not from what else has the focus.
  focus(list("Queries"));
  await userEvent.keyboard("]");
  expect(number("Layer")).toBe(2);
  const other = place(document.createElement("button"));
  other.focus();
  await userEvent.keyboard("[[");
  expect(number("Layer")).toBe(2);
});

test("leaves the keys of a notebook to it", async () => {
  const app = await mountApp();
  await drawn(app);
  expect(document.activeElement).toBe(document.body);
  await userEvent.keyboard("]");
  expect(number("Layer")).toBe(0);
});

test("reaches everything by Tab", async () => {
  const app = await mountApp();
  await drawn(app);
  const reached = new Set<string | null>();
  for (let step = 0; step < 26; step++) {
    await userEvent.tab();
    const active = app.shadow.activeElement;
    reached.add(active?.getAttribute("aria-label") ?? active?.textContent ?? null);
  }
  for (const name of [
    "Head",
    "Layer",
    "Attention",
    "Show",
    "Find token",
    "Copy",
    "Theme",
    "Keyboard",
    "Head 0",
  ]) {
    expect(reached).toContain(name);
  }
  for (const name of ["Queries", "Keys"]) expect(reached).toContain(name);
});

test("is not taken by a notebook's shortcuts", async () => {
  const { parent } = await mountApp();
  // On what JupyterLab sees as focused: outside of the shadow root.
  const host = parent.firstElementChild;
  expect(host?.shadowRoot).toBeTruthy();
  expect(host?.getAttribute("data-lm-suppress-shortcuts")).toBe("true");
});
