/** The controls at the end of the header, within the view. */

import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { focus, parts } from "../support/locators.ts";
import { drawn, mountApp } from "../support/mounted.ts";
import { LABELS } from "../support/numbers.ts";
import { expectNoProblems } from "../support/problems.ts";

expectNoProblems();

const { list, number, option, selected, status } = parts();
const box = page.getByRole("searchbox", { name: "Find token" });

test("a token is found from anywhere, and what is typed is no shortcut", async () => {
  const app = await mountApp();
  await drawn(app);
  focus(list("Keys"));
  await userEvent.keyboard("/");
  expect(app.shadow.activeElement).toBe(box.element());
  await userEvent.keyboard("2]c?/.");
  expect(app.state.view.value).toBe("head");
  expect([number("Layer"), number("Head")]).toEqual([0, 0]);
  await expect.element(box).toHaveValue("2]c?/.");
  await userEvent.fill(box, LABELS[2]);
  await expect.element(option("Queries", 2)).toHaveClass("focused");
  await userEvent.keyboard("{Escape}");
  expect(app.shadow.activeElement).toBe(list("Queries").element());
  await userEvent.keyboard("{Enter}");
  expect(selected("Queries")).toEqual([LABELS[2]]);
});

test("an error does not take the focus, and closing it gives it to the view", async () => {
  const app = await mountApp();
  await drawn(app);
  focus(list("Keys"));
  app.state.error.value = "It did not work.";
  expect(app.shadow.activeElement).toBe(list("Keys").element());
  await userEvent.click(page.getByRole("button", { name: "Dismiss" }));
  expect(app.shadow.activeElement).toBe(list("Queries").element());
});

test("the theme that is chosen is the one that is seen", async () => {
  const app = await mountApp();
  expect(app.root.dataset.theme).toBe("light");
  await userEvent.click(page.getByRole("button", { name: "Theme" }));
  await userEvent.click(page.getByRole("menuitemradio", { name: "Dark" }));
  expect(app.root.dataset.theme).toBe("dark");
  expect(app.state.theme.value).toBe("dark");
});

test("without anything to copy, its button says so and its key does nothing", async () => {
  const source = { block: () => new Promise<never>(() => {}) };
  const app = await mountApp({ source });
  const button = page.getByRole("button", { name: "Copy" });
  await expect.element(button).toHaveAttribute("aria-disabled", "true");
  app.root.focus();
  await userEvent.keyboard("c");
  expect(status()).toBe("");
});

test("what can be found is what the view shows: tokens, heads or nothing", async () => {
  const app = await mountApp({ choices: { view: "model" } });
  const heads = page.getByRole("searchbox", { name: "Find head" });
  await expect.element(box).not.toBeInTheDocument();
  app.state.opened.value = true;
  await expect.element(box).toBeVisible();
  app.state.view.value = "map";
  await expect.element(heads).toBeVisible();
  await expect.element(box).not.toBeInTheDocument();
});
