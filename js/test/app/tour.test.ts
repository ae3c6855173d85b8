/** The tour: steps with the numbers of this record, left at any time without a trace. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { CHOICES } from "../../src/state/choices.ts";
import { eventually } from "../support/eventually.ts";
import { parts } from "../support/locators.ts";
import { type App, drawn, find, mountApp } from "../support/mounted.ts";
import { LABELS, pictured } from "../support/pictured.ts";
import { expectNoProblems } from "../support/problems.ts";

expectNoProblems();

const { status } = parts();
const dialog = page.getByRole("dialog", { name: "Tour" });
const next = dialog.getByRole("button", { name: "Next" });
const text = () => dialog.element().querySelector("p")?.textContent ?? "";

const choices = ({ state }: App) =>
  JSON.stringify(CHOICES.map((name) => [name, state[name].value]));

async function started(): Promise<App> {
  const app = await mountApp({
    choices: { layer: 2, head: 4, heads: [1, 4], key: 3, combine: "max", sort: "distance" },
  });
  await drawn(app);
  app.root.focus();
  await userEvent.keyboard("?");
  await userEvent.click(page.getByRole("button", { name: "Show me around" }));
  await expect.element(dialog).toBeVisible();
  return app;
}

test("is not there until it is asked for", async () => {
  await mountApp();
  await expect.element(dialog).not.toBeInTheDocument();
});

test("goes through seven steps by keyboard, each with something outlined", async () => {
  const app = await started();
  for (const [at, view] of ["head", "head", "model", "model", "neuron", "map", "head"].entries()) {
    await expect.poll(text).toContain(`${at + 1} of 7`);
    expect(app.state.view.value).toBe(view);
    await eventually(() => {
      const { width, height } = find(app, ".tour-outline").getBoundingClientRect();
      expect(Math.min(width, height)).toBeGreaterThan(8);
    });
    await userEvent.keyboard("{Enter}");
  }
  await expect.element(dialog).not.toBeInTheDocument();
});

test("outlines the button of what has no room in the header", async () => {
  const app = await started();
  app.root.style.width = "900px";
  await expect.poll(text).toContain("1 of 7");
  for (const _ of [0, 1, 2]) await userEvent.click(next);
  await expect.poll(text).toContain("4 of 7");
  await eventually(() => {
    const outline = find(app, ".tour-outline").getBoundingClientRect();
    const button = find(app, "[aria-label=Options]").getBoundingClientRect();
    expect(button.width).toBeGreaterThan(0);
    expect(Math.abs(outline.left + outline.right - button.left - button.right)).toBeLessThan(3);
  });
});

test("shows an image's patches and maps", async () => {
  const app = await mountApp({ record: pictured(), choices: { head: 1 } });
  await expect.element(page.getByRole("button", { name: /^Head 1,/ })).toBeVisible();
  app.root.focus();
  await userEvent.keyboard("?");
  await userEvent.click(page.getByRole("button", { name: "Show me around" }));
  await expect.poll(text).toContain("Lock a patch");
  expect(LABELS[app.state.query.value ?? 0]).toBe("1,2");
  await userEvent.click(next);
  await expect.poll(text).toContain("Each small image is one of the 4 heads of layer 0");
  await eventually(() => {
    const outline = find(app, ".tour-outline").getBoundingClientRect();
    const map = find(app, ".map[aria-pressed=true]").getBoundingClientRect();
    expect(Math.abs(outline.left + outline.right - map.left - map.right)).toBeLessThan(6);
    expect(outline.width - map.width).toBeLessThan(16);
  });
});

describe("its words", () => {
  test("are the status line's, and the manifest's", async () => {
    await started();
    await eventually(() => expect(text()).toContain("→"));
    expect(status()).toContain(text().split("largest weights.")[1].split(" · ")[0]);
    await userEvent.click(next);
    await expect.poll(text).toContain("one of the 10 heads of layer 2 alone");
    await userEvent.click(next);
    await expect.poll(text).toContain("all 16 heads in 3 layers");
  });
});

test.for([0, 1, 2, 3, 4, 5])(
  "after %i steps, Escape leaves the reader's choices as they were",
  async (steps) => {
    const app = await mountApp({
      choices: { layer: 2, head: 4, heads: [1, 4], key: 3, combine: "max", sort: "distance" },
    });
    await drawn(app);
    const before = choices(app);
    app.root.focus();
    await userEvent.keyboard("?");
    await userEvent.click(page.getByRole("button", { name: "Show me around" }));
    for (let step = 0; step < steps; step++) await userEvent.click(next);
    await userEvent.keyboard("{Escape}");
    await expect.element(dialog).not.toBeInTheDocument();
    // A dialog's close event comes after it is closed.
    await expect.poll(() => choices(app)).toBe(before);
    expect(find(app, ".tour-outline").hidden).toBe(true);
  },
);
