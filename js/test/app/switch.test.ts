/** The four views are views of one thing. */

import { expect, test } from "vitest";
import { userEvent } from "vitest/browser";
import { goTo } from "../../src/state/navigation.ts";
import { parts } from "../support/locators.ts";
import { drawn, find, mountApp, mountModel } from "../support/mounted.ts";
import { expectNoProblems } from "../support/problems.ts";

expectNoProblems();

const { tab, option, number, selected, filter, heads } = parts();

test("a switch of views keeps layer, head and the locked token", async () => {
  const app = await mountApp({ choices: { layer: 2, head: 6 } });
  await drawn(app);
  await userEvent.click(option("Queries", 2));
  for (const view of ["Neuron", "Model", "Head", "Model", "Neuron"]) {
    await userEvent.click(tab(view));
    expect([number("Layer"), number("Head")]).toEqual([2, 6]);
    if (view === "Model") continue;
    await expect.element(option("Queries", 2)).toHaveAttribute("aria-selected", "true");
    expect([selected("Queries"), selected("Keys")]).toEqual([["cat"], []]);
  }
});

test("each view is scrolled to where the reader left it", async () => {
  const app = await mountModel();
  const body = find(app, ".body");
  body.style.setProperty("max-height", "100px", "important");
  body.scrollTop = 60;
  expect(body.scrollTop).toBe(60);
  app.state.view.value = "head";
  expect(body.scrollTop).toBe(0);
  app.state.view.value = "model";
  await expect.poll(() => body.scrollTop).toBe(60);
});

test("a switch of views lets go of what was hovered", async () => {
  const { state } = await mountApp();
  await expect.element(option("Keys", 4)).toBeInTheDocument();
  state.hover.value = { query: null, key: 4 };
  state.view.value = "model";
  expect(state.hover.value).toBeNull();
});

test("the filter of a text pair is there in every view", async () => {
  const { state } = await mountApp();
  for (const view of ["head", "model", "neuron"] as const) {
    state.view.value = view;
    await expect.element(filter).toBeVisible();
  }
});

test("two views of one page share nothing", async () => {
  const [one, two] = [await mountApp(), await mountApp({ choices: { layer: 2 } })];
  await drawn(one);
  await drawn(two);
  one.state.hover.value = { query: 2, key: null };
  goTo(one.state, { layer: 1 });
  expect([two.state.hover.value, two.state.layer.value]).toEqual([null, 2]);
  expect(two.shadow.querySelector(".focused")).toBeNull();
  one.unmount();
  goTo(two.state, { layer: 0 });
  await expect.poll(heads).toBe(4);
});
