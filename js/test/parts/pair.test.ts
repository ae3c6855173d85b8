/** The heads that link a locked query and key: what leads to them, and what stands in the way. */

import { signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { Store } from "../../src/data/store.ts";
import { lockedPair, showLinking } from "../../src/parts/pair.ts";
import type { Choices, ViewName } from "../../src/state/choices.ts";
import { pairMetric } from "../../src/views/shared/all-heads/pair.ts";
import { stateOf, storeOf } from "../support/choices.ts";
import { compared } from "../support/compared.ts";
import { eventually } from "../support/eventually.ts";
import { focus, parts } from "../support/locators.ts";
import { find, mountApp } from "../support/mounted.ts";
import { expectNoProblems } from "../support/problems.ts";
import { OVERVIEW, RECORD } from "../support/vectors.ts";

expectNoProblems();

const PAIR = { query: 4, key: 2 };
const { list, option, status, tab } = parts();
const chip = page.getByRole("group", { name: /^Locked: / });
const linking = page.getByRole("button", { name: /^Heads that link / });
const table = page.getByRole("table", { name: /^Heads of all layers by weight / });

/** "2-5" of every head, from the largest weight from the query to the key to the smallest. */
function expected(): string[] {
  const { layers } = storeOf().manifest.stacks[0];
  const heads = layers.flatMap(({ number, heads }, at) =>
    Array.from({ length: heads }, (_, head) => ({
      name: `${number}-${head}`,
      weight: Number(RECORD.weights[at][head * 81 + PAIR.query * 9 + PAIR.key]),
    })),
  );
  return heads.sort((a, b) => b.weight - a.weight).map(({ name }) => name);
}

test.for<[string, Partial<Choices>, readonly ViewName[], string]>([
  ["nothing is locked", {}, ["head", "model"], "Lock two tokens first"],
  ["no key is locked", { query: 4 }, ["head", "model"], "Lock two tokens first"],
  ["several are locked", { ...PAIR, also: [5] }, ["head", "model"], "Lock two tokens first"],
  ["the page has no such view", PAIR, ["head", "neuron"], "model view, which is not here"],
])("are not shown if %s", ([, choices, views, why]) => {
  const state = stateOf(choices, RECORD, views);
  expect(showLinking(state)).toContain(why);
  expect([state.view.value, state.sort.value]).toEqual(["head", "model"]);
});

test("are on the map where there is no model view", () => {
  const state = stateOf(PAIR, RECORD, ["head", "map"]);
  expect(showLinking(state)).toBe("");
  expect([state.view.value, state.color.value]).toEqual(["map", "pair"]);
});

test("the pair has the names of either text", () => {
  const state = stateOf({ stack: "cross", query: 1, key: 0 }, OVERVIEW);
  const { queries, keys } = state.shown.stack.value;
  expect(lockedPair(state)?.text).toBe(`${queries.labels[1]} → ${keys.labels[0]}`);
});

test("of a comparison, numbers are B − A", () => {
  const loaded = signal({ status: "ready", data: new Map() });
  const stack = () => ({ pair: () => loaded });
  const store = { manifest: { texts: null }, stack } as unknown as Store;
  const choices = { ...PAIR, compared: "difference", color: "pair" } as const;
  const { metric } = pairMetric(stateOf(choices, compared()), store, false).value;
  expect([metric?.label, metric?.signed]).toEqual([
    expect.stringMatching(/^weight \S+ → \S+, B − A$/),
    true,
  ]);
});

test("the chip and the key list them by that weight; the pair is released", async () => {
  const app = await mountApp({ choices: { layer: 1 } });
  await expect.element(chip).not.toBeInTheDocument();
  await userEvent.click(option("Queries", PAIR.query));
  app.state.key.value = PAIR.key;
  await expect.element(chip).toBeVisible();
  focus(list("Queries"));
  await userEvent.keyboard("h");
  await expect.element(table).toBeVisible();
  const names = () =>
    table
      .getByRole("rowheader")
      .elements()
      .map((each) => each.textContent);
  expect(names()).toEqual(expected());
  expect(status()).toMatch(/ · weight \S+ → \S+ \d\.\d{3} · /);
  expect(find(app, ".about").textContent).toMatch(/^weight \S+ → \S+ .*■+.*sorted by the weight/);

  await userEvent.click(tab("Head"));
  await userEvent.click(linking);
  await expect.element(table).toBeVisible();
  await userEvent.click(tab("Map"));
  await expect.element(chip).toBeVisible();
  await eventually(() => expect(status()).toMatch(/ · weight \S+ → \S+ /));
  await userEvent.click(chip.getByRole("button", { name: /^Release / }));
  await expect.element(chip).not.toBeInTheDocument();
  expect([app.state.query.value, app.state.key.value]).toEqual([null, null]);
  expect(find(app, ".about").textContent).toContain(
    "lock two tokens: click one, Shift+click the other",
  );
  // The focus is still in the view, which takes keys.
  await userEvent.keyboard("h");
  expect(status()).toContain("Lock two tokens first");
});

test("layers that cannot be had are named, in place of a list by other numbers", async () => {
  const source = { block: () => Promise.reject(new Error("Layer 1 is not in this page.")) };
  const app = await mountApp({
    choices: { view: "model", sort: "pair", color: "pair", ...PAIR },
    source,
  });
  await eventually(() =>
    expect(find(app, ".about").textContent).toMatch(
      /mixed.*the weights .* are not known: Layer 1 is not/,
    ),
  );
  app.state.ranking.value = true;
  await expect
    .element(page.getByText(/^The weights .* are not known: Layer 1 is not/))
    .toBeVisible();
});
