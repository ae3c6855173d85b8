/** Heads that are switched off, their chips, and the panel with what changes. */

import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { Effect, PredictionEffect } from "../../src/data/effect.ts";
import type { Off } from "../../src/data/requests.ts";
import { Absent } from "../../src/data/resource-cache.ts";
import type { Effects, Source } from "../../src/data/store.ts";
import type { Choices } from "../../src/state/choices.ts";
import { storeOf } from "../support/choices.ts";
import { parts } from "../support/locators.ts";
import { drawn, mountApp, sourceOf } from "../support/mounted.ts";
import { expectNoProblems } from "../support/problems.ts";
import { OVERVIEW } from "../support/vectors.ts";

expectNoProblems();

const change = (
  label: string,
  before: number,
  after: number,
  ranks: readonly [number, number],
) => ({
  ...{ label, before, after },
  ...{ rank_before: ranks[0], rank_after: ranks[1] },
});

const MAT: PredictionEffect = {
  predicts: "next",
  position: 5,
  label: "the",
  positions: 6,
  divergence: 1.5,
  mean: 0.25,
  changes: [
    change("mat", 0.5, 0.25, [1, 2]),
    change("<b>rug</b>", 0.2, 0.4, [2, 1]),
    change("moon", 0.001, 0.0001, [3, 20]),
  ],
};

/** An app whose kernel replies when the test says so. */
async function mounted(
  choices: Partial<Choices> = {},
  { others, ...source }: Partial<Source & Effects> = {},
  width = 1100,
) {
  const asked: (Off & { query: number | null; signal: AbortSignal })[] = [];
  const replies: { resolve(effect: Effect): void; reject(error: Error): void }[] = [];
  const effect = vi.fn((off: Off, query: number | null, signal: AbortSignal) => {
    asked.push({ ...off, query, signal });
    return new Promise<Effect>((resolve, reject) => replies.push({ resolve, reject }));
  });
  const app = await mountApp({
    choices,
    source: { ...sourceOf(), effects: { effect, others }, ...source },
    width,
  });
  await drawn(app);
  return { ...app, asked, replies };
}

const panel = page.getByRole("region", { name: "Effect of what is off" });
const chips = page.getByRole("group", { name: "Switched off" }).getByRole("button");
const names = () => chips.elements().map((chip) => chip.getAttribute("aria-label"));
const table = page.getByRole("table", { name: "Predictions before and after" });
const rows = () =>
  table
    .getByRole("row")
    .elements()
    .map((row) => [...row.children].map((cell) => cell.textContent));

test("the range of as many other heads follows the effect", async () => {
  let arrive = (_: readonly number[]) => {};
  const others = vi.fn(() => new Promise<readonly number[]>((resolve) => (arrive = resolve)));
  const { replies } = await mounted({ off: [[1, 1]] }, { others });
  expect(others).not.toHaveBeenCalled();
  replies[0].resolve(MAT);
  await expect.element(panel).toHaveTextContent("mean of 6 positions0.25 nats");
  await expect.element(panel).not.toHaveTextContent("draws");
  arrive([0.02, 0.5, 0.0001]);
  await expect
    .element(panel)
    .toHaveTextContent("of as many other heads (3 draws)0.0001–0.50 nats: within");
});

test("a head that is switched off brings the panel, and what changes", async () => {
  const { root, shadow, state, asked, replies } = await mounted({ layer: 1, head: 1, query: 3 });
  await expect.element(panel).not.toBeInTheDocument();
  root.focus();
  await userEvent.keyboard("x");
  expect(state.off.value).toEqual([[1, 1]]);
  await expect.element(panel).toBeVisible();
  expect(asked).toMatchObject([{ stack: "self", heads: [[1, 1]], query: 3 }]);
  replies[0].resolve({ ...MAT, only: ". This page has only position 5." });
  const title = "Next token after “the” (5), which changes most. This page has only position 5.";
  await expect.element(panel).toHaveTextContent(title);
  expect(rows().slice(1)).toEqual([
    ["mat", "0.500", "1", "0.250", "2"],
    ["<b>rug</b>", "0.200", "2", "0.400", "1"],
    ["moon", "0.001", "3", "<.001", "20"],
  ]);
  await expect.element(panel).toHaveTextContent("−0.69 → −1.39 (−0.69)");
  await expect.element(panel).toHaveTextContent("1.50 nats");
  await expect.element(panel).toHaveTextContent("Zeros replace the outputs of heads");
  await expect.element(panel).toHaveTextContent("■ p rises · ■ p falls · dashed: drops out");
  const found = (selector: string) => getComputedStyle(shadow.querySelector(selector) as Element);
  expect(found(".remark span:nth-child(1)").color).toBe(found(".predictions .more").stroke);
  expect(found(".remark span:nth-child(2)").color).toBe(found(".predictions .less").stroke);
});

test("hidden states of a bare encoder", async () => {
  const { replies } = await mounted({ off: [[0, 1]] });
  const moved = [
    { position: 1, label: "dog", moved: 0.25 },
    { position: 4, label: "ran", moved: 0.00001 },
  ];
  replies[0].resolve({ predicts: null, positions: 9, mean: 0.0123, moved });
  await expect.element(panel).toHaveTextContent("the 2 most of 9");
  const cells = panel.getByRole("row").elements().slice(1);
  expect(cells.map((row) => [...row.children].map((cell) => cell.textContent))).toEqual([
    ["1", "dog", "0.25"],
    ["4", "ran", "<0.0001"],
  ]);
  await expect.element(panel).toHaveTextContent("mean of 9 tokens0.0123");
});

test("a cut link brings the panel, a chip and marks; Esc restores it", async () => {
  const { root, state, asked, replies } = await mounted({ layer: 1, head: 1, query: 3, key: 2 });
  root.focus();
  await userEvent.keyboard("k");
  expect(state.cut.value).toEqual([[[3], [2], [1], [1]]]);
  expect(asked).toMatchObject([{ stack: "self", heads: [], cut: state.cut.value, query: 3 }]);
  replies[0].resolve(MAT);
  await expect.element(panel).toHaveTextContent("Cut links have score −∞");
  const { labels } = state.shown.stack.value.queries;
  const name = `Restore the links from “${labels[3]}” to “${labels[2]}” in head 1-1`;
  expect(names()).toEqual([name]);
  const button = page.getByRole("button", { name: "Cut link" });
  await expect.element(button).toHaveAttribute("aria-pressed", "true");
  await userEvent.keyboard("K");
  expect(names()[1]).toMatch(/in all heads$/);
  await userEvent.keyboard("k");
  expect(state.cut.value).toEqual([[[3], [2], null, null]]);
  await userEvent.keyboard("{Escape}{Escape}");
  expect(state.cut.value).toEqual([]);
  await expect.element(panel).not.toBeInTheDocument();
});

test("nothing is cut where no token is locked, and the view says what to do", async () => {
  const { root, asked } = await mounted();
  root.focus();
  await userEvent.keyboard("k");
  await expect.element(page.getByRole("status")).toHaveTextContent("point at a token or lock one");
  expect(asked).toEqual([]);
});

test("another head aborts the request before, whose answer is not shown", async () => {
  const { state, asked, replies } = await mounted({ off: [[0, 1]] });
  state.off.value = [
    [0, 1],
    [0, 2],
  ];
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  replies[1].resolve(MAT);
  await expect.element(table).toBeInTheDocument();
  replies[0].resolve({ ...MAT, label: "late" });
  await expect.element(panel).toHaveTextContent("after “the”");
  // An equal list, as a host sends it back, is no news.
  state.off.value = [
    [0, 1],
    [0, 2],
  ];
  expect(asked.length).toBe(2);
  state.query.value = 2;
  expect(asked.at(-1)).toMatchObject({ query: 2 });
});

describe("chips", () => {
  test("name heads, or a layer of which all are off", async () => {
    const { state, root } = await mounted({ off: [[0, 1]], layer: 1, head: 0 });
    root.focus();
    await userEvent.keyboard("X");
    expect(names()).toEqual(["Switch head 0-1 on again", "Switch layer 1 on again"]);
    await userEvent.click(chips.nth(1));
    expect(state.off.value).toEqual([[0, 1]]);
  });

  test("go by Backspace, and leave the focus to the next, or to the view", async () => {
    const { state, shadow } = await mounted({
      off: [
        [0, 1],
        [1, 0],
      ],
    });
    (chips.nth(0).element() as HTMLElement).focus();
    await userEvent.keyboard("{Backspace}");
    expect(state.off.value).toEqual([[1, 0]]);
    expect(shadow.activeElement).toBe(chips.element());
    await userEvent.keyboard("{Delete}");
    expect(state.off.value).toEqual([]);
    await expect.element(panel).not.toBeInTheDocument();
    expect(shadow.activeElement?.closest(".body")).not.toBeNull();
  });

  test("all go at once", async () => {
    const { state } = await mounted({ off: [[0, 1]] });
    await userEvent.click(panel.getByRole("button", { name: "All on" }));
    expect(state.off.value).toEqual([]);
  });
});

test("the button, and Alt with a click on a swatch or a cell, switch heads off", async () => {
  const { state, root } = await mounted({ layer: 0, head: 2 });
  const button = page.getByRole("button", { name: "Switch head off" });
  await userEvent.click(button);
  await expect.element(button).toHaveAttribute("aria-pressed", "true");
  const swatch = parts().swatches.nth(1);
  await swatch.click({ modifiers: ["Alt"] });
  expect(state.off.value).toEqual([
    [0, 1],
    [0, 2],
  ]);
  expect(state.heads.value).toBeNull();
  await expect.element(swatch).toHaveAttribute("aria-description", "switched off");
  root.focus();
  await userEvent.keyboard("2");
  const cell = parts().cell(1, 0);
  await cell.click({ modifiers: ["Alt"] });
  expect(state.off.value.at(-1)).toEqual([1, 0]);
  expect(state.opened.value).toBe(false);
  expect(cell.element().getAttribute("aria-description")).toMatch(/, switched off$/);
  await cell.click({ modifiers: ["Alt"] });
  expect(cell.element().getAttribute("aria-description")).not.toContain("off");
});

test("the views show the attention without the heads, and with all of them again", async () => {
  const changed = vi.fn(async () => storeOf(OVERVIEW, sourceOf(OVERVIEW)));
  const { state, root } = await mounted({ off: [[0, 1]] }, { changed });
  state.view.value = "model";
  const button = panel.getByRole("button", { name: "Show the attention without them" });
  const columns = () => page.getByRole("columnheader").elements().length;
  const before = columns();
  await userEvent.click(button);
  expect(changed).toHaveBeenCalledWith(
    { stack: "self", heads: [[0, 1]], cut: [] },
    expect.any(AbortSignal),
  );
  await expect.element(button).toHaveAttribute("aria-pressed", "true");
  await expect.element(page.getByText("attention without what is off")).toBeVisible();
  expect(columns()).not.toBe(before);
  root.focus();
  await userEvent.keyboard("{Escape}");
  expect([state.off.value, state.withoutOff.value]).toEqual([[], false]);
  expect(columns()).toBe(before);
});

test("attention that cannot be had is said, and the views show the record", async () => {
  const changed = () => Promise.reject(new Error("out of memory"));
  const { state } = await mounted({ off: [[0, 1]] }, { changed });
  state.withoutOff.value = true;
  await expect.element(page.getByText("out of memory")).toBeVisible();
  expect(state.withoutOff.value).toBe(false);
});

describe("what is missing is said", () => {
  test("by the kernel", async () => {
    const { replies } = await mounted({ off: [[0, 1]] });
    replies[0].reject(new Absent("The model was deleted: run the cell again."));
    await expect.element(panel.getByRole("alert")).toHaveTextContent("The model was deleted");
    await expect.element(panel.getByRole("alert")).toHaveClass("absent");
  });

  test("where no kernel is, and there is no button", async () => {
    const app = await mountApp({ choices: { off: [[0, 1]] } });
    await drawn(app);
    await expect.element(panel.getByRole("alert")).toHaveTextContent("run the cell again there");
    await expect
      .element(page.getByRole("button", { name: "Switch head off" }))
      .not.toBeInTheDocument();
  });
});

test("at 600 px, the panel below the view leaves most of the room to it", async () => {
  const { replies, shadow } = await mounted({ layer: 1, head: 1, off: [[1, 1]] }, {}, 600);
  await vi.waitFor(() => expect(replies.length).toBe(1));
  const moved = Array.from({ length: 24 }, (_, position) => ({ position, label: "a", moved: 0.1 }));
  replies[0].resolve({ predicts: null, positions: 24, mean: 0.1, moved });
  await expect.poll(() => panel.element().scrollHeight).toBeGreaterThan(500);
  const main = shadow.querySelector(".main") as HTMLElement;
  expect(panel.element().clientHeight).toBeLessThan(0.55 * main.clientHeight);
});

test("where it is just beside the view, the panel leaves room for the matrix beside the lines", async () => {
  const { shadow } = await mounted({ layer: 1, head: 1, off: [[1, 1]] }, {}, 903);
  const main = shadow.querySelector(".main") as HTMLElement;
  expect(getComputedStyle(main).flexDirection).toBe("row");
  await expect.poll(() => shadow.querySelector(".head-view.side-by-side")).not.toBeNull();
});
