/** Token text is data: whatever it says, it stays text. */

import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { parts } from "../support/locators.ts";
import { type App, drawn, find, mountApp } from "../support/mounted.ts";
import { LABELS } from "../support/numbers.ts";
import { twoFrames } from "../support/place.ts";
import { expectNoProblems } from "../support/problems.ts";
import { RECORD } from "../support/vectors.ts";

expectNoProblems();

const { list, option, status } = parts();

async function expectNoMarkup({ shadow }: App): Promise<void> {
  // An image that does not exist would run its handler by now.
  await twoFrames();
  expect(shadow.querySelectorAll("img, script, link, iframe, [onerror]").length).toBe(0);
  expect("attacked" in globalThis).toBe(false);
}

test.for(["head", "neuron"] as const)("tokens are text in the %s view", async (view) => {
  const app = await mountApp({ choices: { view, query: 1 } });
  await expect.element(list("Queries")).toBeVisible();
  await userEvent.hover(option("Keys", 3));
  expect(status()).toContain(LABELS[3]);
  // Each of them whole, in what it shows or in what it is called.
  const said = list("Queries").getByRole("option").elements();
  expect(said.map((row) => row.getAttribute("aria-label") ?? row.textContent)).toEqual(LABELS);
  await expectNoMarkup(app);
});

test("the model view makes no markup of anything", async () => {
  const app = await mountApp({ choices: { view: "model" } });
  await userEvent.hover(page.getByRole("gridcell").first());
  await expectNoMarkup(app);
});

test("the model's name is text too", async () => {
  const record = structuredClone(RECORD);
  const name = "<img src=x onerror='globalThis.attacked=1'>";
  (record.manifest as { model: string }).model = name;
  const app = await mountApp({ record });
  await drawn(app);
  expect(find(app, ".about").textContent).toContain(name);
  await expectNoMarkup(app);
});
