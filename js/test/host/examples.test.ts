/** The examples of a profile: asked of the kernel, which replaces the text that is shown. */

import { expect, test } from "vitest";
import { page } from "vitest/browser";
import { readManifest } from "../../src/data/read-manifest.ts";
import { parts } from "../support/locators.ts";
import { expectNoProblems } from "../support/problems.ts";
import { RECORD } from "../support/vectors.ts";
import { modelOf, rendered } from "./rendered.ts";

expectNoProblems();

const { layers } = readManifest(RECORD.manifest).stacks[0];
const ofHeads = layers.map(({ heads }) =>
  Array.from({ length: heads }, () => [[1, 1, 0.5, 2, 1], null, [0, 0, 0.25, 3, 0]]),
);
const examples = {
  texts: ["Rain.", "Snow fell."],
  num_texts: 9,
  metrics: { entropy: { self: ofHeads } },
};
const { tab } = parts();

test("an example is asked for, and its text comes in place of the other", async () => {
  const model = modelOf({ view: "map", layer: 1, head: 1, _examples: examples });
  const { el } = await rendered(model);
  const list = page.getByRole("list", { name: "Examples" });
  const asked = list.getByRole("button", { name: "2nd highest, 0.50 nats: Snow fell." });
  await expect.element(list.getByRole("button", { name: /^Median/ })).toBeDisabled();
  await asked.click();
  await expect.element(asked).toHaveAttribute("aria-busy", "true");
  const opened = { text: 1, stack: "self", layer: 1, head: 1, query: 2 };
  expect(model.sent.filter(({ op }) => op === "open")).toEqual([{ op: "open", ...opened }]);

  model.deliver({ error: "the model is gone" });
  await expect.element(asked).toHaveAttribute("aria-busy", "false");
  await expect.element(page.getByRole("alert")).toHaveTextContent("the model is gone");

  model.receive("view", "head");
  model.receive("_manifest", structuredClone(RECORD.manifest));
  await expect.element(tab("Head")).toHaveAttribute("aria-selected", "true");
  expect(el.childElementCount).toBe(1);
  expect(document.activeElement).toBe(el.firstElementChild);
});
