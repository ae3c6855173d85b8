/** A view that is gone is gone. */

import { expect, test, vi } from "vitest";
import { page } from "vitest/browser";
import { drawn, mountApp, slowSource } from "../support/mounted.ts";
import { twoFrames } from "../support/place.ts";
import { expectNoProblems } from "../support/problems.ts";

expectNoProblems();

test("leaves nothing in the page", async () => {
  const before = document.head.childNodes.length;
  const app = await mountApp();
  await drawn(app);
  app.unmount();
  expect(app.parent.childNodes.length).toBe(0);
  expect(document.head.childNodes.length).toBe(before);
  expect(document.adoptedStyleSheets).toEqual([]);
});

test.for(["head", "model", "neuron"] as const)("ends all that the %s view does", async (view) => {
  const app = await mountApp({ choices: { view, query: 2 } });
  const shown = page.getByRole("listbox").or(page.getByRole("grid"));
  await expect.element(shown.first()).toBeInTheDocument();
  await twoFrames();
  app.unmount();
  const look = () => [
    app.shadow.innerHTML,
    ...[...app.shadow.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()),
  ];
  const before = look();
  const { state } = app;
  state.hover.value = { query: 3, key: null };
  state.head.value = 1;
  state.heads.value = [1];
  state.query.value = null;
  state.key.value = 1;
  state.theme.value = "dark";
  state.layer.value = 2;
  state.view.value = view === "head" ? "model" : "head";
  document.body.setAttribute("data-look", "dark");
  document.body.removeAttribute("data-look");
  await twoFrames();
  expect(look()).toEqual(before);
  // Neither do its keys work any more.
  const keydown = new KeyboardEvent("keydown", { key: "2", bubbles: true, cancelable: true });
  app.root.dispatchEvent(keydown);
  expect(keydown.defaultPrevented).toBe(false);
});

test("while a layer is on its way leaves no timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { source } = slowSource();
    const app = await mountApp({ source });
    expect(vi.getTimerCount()).toBeGreaterThan(0);
    app.unmount();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("twice does no harm", async () => {
  const app = await mountApp();
  await drawn(app);
  app.unmount();
  app.unmount();
});
