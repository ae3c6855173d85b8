/** The model view lists the heads of all layers by a number. */

import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { metricValue } from "../../../src/data/manifest.ts";
import { readMetrics } from "../../../src/data/read-manifest.ts";
import { PAIR } from "../../../src/state/choices.ts";
import { allHeads, rowsOf } from "../../../src/views/shared/all-heads/heads.ts";
import { mountApp } from "../../support/mounted.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

const table = (name: string) => page.getByRole("table", { name, exact: true });
const row = (at: number) => page.getByRole("row").nth(at + 1);

test("from the highest to the lowest; one is chosen and opened", async () => {
  const { state } = await mountApp({ choices: { view: "model", sort: "previous" } });
  await userEvent.click(page.getByRole("button", { name: "Ranking" }));
  expect(state.ranking.value).toBe(true);
  await expect.element(table("Heads of all layers by share on previous token")).toBeVisible();
  const stack = state.shown.stack.value;
  const metric = state.shown.metrics.value.find(({ name }) => name === "previous");
  if (!metric) throw new Error("There is no such metric.");
  const expected = allHeads(rowsOf(stack, null))
    .map((head) => ({ head, value: metricValue(metric, head) ?? Number.NEGATIVE_INFINITY }))
    .sort((a, b) => b.value - a.value)
    .map(({ head }) => `Layer ${head.layer.number}, head ${head.head}`);
  const buttons = page.getByRole("rowheader").getByRole("button");
  const names = () => buttons.elements().map((button) => button.getAttribute("aria-label"));
  expect(names()).toEqual(expected);

  await userEvent.click(row(2));
  const chosen = () => `Layer ${state.layer.value}, head ${state.head.value}`;
  expect(chosen()).toBe(expected[2]);
  await expect.element(row(2)).toHaveAttribute("aria-current", "true");
  (buttons.nth(2).element() as HTMLElement).focus();
  await userEvent.keyboard("{ArrowDown}");
  expect(chosen()).toBe(expected[3]);
  await userEvent.keyboard("{Enter}");
  expect([state.view.value, state.heads.value]).toEqual(["head", [state.head.value]]);
});

test("a column's name ranks by it", async () => {
  const { state } = await mountApp({ choices: { view: "model", ranking: true } });
  await expect.element(table("Heads of all layers by entropy")).toBeVisible();
  await userEvent.click(page.getByRole("button", { name: "Rank by distance" }));
  expect(state.sort.value).toBe("distance");
  await expect.element(table("Heads of all layers by distance")).toBeVisible();
});

test("the null of the numbers has a column beside them", async () => {
  const { state, store } = await mountApp({ choices: { view: "model", ranking: true } });
  const rows = (value: number) => [4, 2, 10].map((heads) => Array(heads).fill(value));
  const own = {
    name: "effect",
    label: "effect",
    unit: "nats",
    digits: 2,
    signed: false,
    directions: null,
    description: "",
    values: { self: rows(0.5) },
    null: { label: "random directions", values: { self: rows(0.25) } },
  };
  state.ownMetrics.value = readMetrics([own], store.manifest);
  state.color.value = "effect";
  await expect.element(table("Heads of all layers by effect")).toBeVisible();
  const names = page
    .getByRole("columnheader")
    .elements()
    .map((each) => each.textContent);
  expect(names.slice(4, 6)).toEqual(["effect", "random directions"]);
  const cells = row(0)
    .getByRole("cell")
    .elements()
    .map((each) => each.textContent);
  // Behind rank, pattern and bar.
  expect(cells.slice(3, 5)).toEqual(["0.50", "0.25"]);
});

test("by a pair that was released, there is a way on", async () => {
  const choices = {
    view: "model",
    ranking: true,
    query: 4,
    key: 2,
    sort: PAIR,
    color: PAIR,
  } as const;
  const { root, state } = await mountApp({ choices });
  await expect.element(page.getByRole("table")).toBeVisible();
  root.focus();
  await userEvent.keyboard("{Escape}");
  await userEvent.click(page.getByRole("button", { name: "Rank by entropy" }));
  expect(state.sort.value).toBe("entropy");
  await expect.element(table("Heads of all layers by entropy")).toBeVisible();
});
