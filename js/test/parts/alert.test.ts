import { expect, onTestFinished, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { el } from "../../src/parts/dom.ts";
import { alertBar, isInUse, watchErrors } from "../../src/parts/notes.ts";
import { stateOf } from "../support/choices.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";

const alert = page.getByRole("alert");

test("says what went wrong, as text, until it is dismissed", async () => {
  const state = stateOf();
  const leave = vi.fn();
  place(alertBar(testScope(), state, leave));
  await expect.element(alert).not.toBeInTheDocument();
  state.error.value = "heads: <b>13</b> is not there";
  await expect.element(alert).toHaveTextContent("heads: <b>13</b> is not there");
  await userEvent.click(alert.getByRole("button", { name: "Dismiss" }));
  expect(state.error.value).toBeNull();
  expect(leave).toHaveBeenCalledOnce();
  await expect.element(alert).not.toBeInTheDocument();
});

test("errors of the view's own code are shown, and no others", () => {
  const state = stateOf();
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  watchErrors(state, ({ filename }) => filename === "view.js", { signal: controller.signal });
  const raise = (filename: string, error: unknown) =>
    dispatchEvent(new ErrorEvent("error", { filename, error, message: "something" }));
  raise("page.js", new Error("of the page"));
  raise("view.js", null);
  expect(state.error.value).toBeNull();
  raise("view.js", new Error("no such row"));
  expect(state.error.value).toContain("no such row");
  state.error.value = null;
  controller.abort();
  raise("view.js", new Error("no such row"));
  expect(state.error.value).toBeNull();
});

test("of several views, the one that has the focus or the pointer is in use, else any may be", () => {
  const hosts = [0, 1, 2].map(() => place(el("div", {})));
  const inUse = () => hosts.map((host) => isInUse(host, hosts));
  expect(inUse()).toEqual([true, true, true]);
  const root = el("div", { tabindex: -1 });
  hosts[1].attachShadow({ mode: "open" }).append(root);
  root.focus();
  expect(inUse()).toEqual([false, true, false]);
});
