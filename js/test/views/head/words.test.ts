/** Words instead of tokens, and tokens side by side. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { focus, parts } from "../../support/locators.ts";
import { drawn, find, mountApp } from "../../support/mounted.ts";
import { LABELS, mean, scoreAt, signed, sum, weightAt } from "../../support/numbers.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { RECORD } from "../../support/vectors.ts";

expectNoProblems();

const { list, option, labels, selected, status } = parts();
const words = page.getByRole("button", { name: "Words", exact: true });

type Worded = { stacks: { queries: { words: { labels: string[]; of: number[] } | null } }[] };
const { words: known } = (RECORD.manifest as Worded).stacks[0].queries;
const WORDS = known?.labels ?? [];
const tokensOf = (word: number) => LABELS.flatMap((_, at) => (known?.of[at] === word ? [at] : []));

/** Attention from a word to a word: the mean over the one's tokens of the sum over the other's. */
const between = (head: number, from: number, to: number) =>
  mean(
    tokensOf(from).map((query) => sum(tokensOf(to).map((key) => weightAt(0, head, query, key)))),
  );

/** Words that occur once, in the order of the weights. */
const expectSaid = (weights: readonly number[]) => {
  const largest = [...weights].sort((a, b) => b - a).slice(0, 3);
  const found = status()
    ?.match(/\d\.\d{3}/g)
    ?.map(Number);
  expect(found).toEqual(largest.map((weight) => Number(weight.toFixed(3))));
};

describe("words", () => {
  test("stand where their tokens stood, and back", async () => {
    await mountApp();
    await userEvent.click(words);
    await expect.poll(() => labels("Queries")).toEqual(WORDS);
    expect(labels("Keys")).toEqual(WORDS);
    await userEvent.click(words);
    await expect.poll(() => labels("Queries")).toEqual(LABELS);
  });

  test.for([0, 1, 2, 3])("have the weights of their tokens in head %i", async (head) => {
    await mountApp({ choices: { words: true, heads: [head] } });
    for (const word of [2, 5, 0]) {
      await userEvent.hover(option("Queries", word));
      await expect.poll(status).toContain("→");
      expectSaid(WORDS.map((_, to) => between(head, word, to)));
      await userEvent.hover(option("Keys", word));
      await expect.poll(status).toContain("←");
      expectSaid(WORDS.map((_, from) => between(head, from, word)));
    }
  });

  test("have a score only where they are one token", async () => {
    const app = await mountApp({ choices: { words: true, query: 1, key: 5 } });
    await expect.poll(status).toContain(`score ${signed(scoreAt(0, 0, 1, 5) as number)}`);
    app.state.query.value = 2;
    await expect.poll(status).toContain(`weight ${between(0, 2, 4).toFixed(3)}`);
    expect(status()).not.toContain("score");
  });

  test("keep what is locked, whichever of its tokens that is, and let go of it", async () => {
    const { state } = await mountApp({ choices: { words: true, query: 3, also: [2] } });
    await expect.poll(() => selected("Queries")).toEqual([WORDS[2]]);
    await userEvent.click(option("Queries", 2));
    expect(selected("Queries")).toEqual([]);
    expect([state.query.value, state.also.value]).toEqual([null, []]);
    await userEvent.click(option("Queries", 5));
    // By its first token, so that it is still there without words.
    expect(state.query.value).toBe(6);
  });

  test("are not offered where they are not known", async () => {
    const record = structuredClone(RECORD);
    (record.manifest as Worded).stacks[0].queries.words = null;
    const app = await mountApp({ record, choices: { words: true } });
    await drawn(app);
    expect(words.elements()).toEqual([]);
    expect(labels("Queries")).toEqual(LABELS);
  });

  test("of a maximum over all layers say what it is of", async () => {
    const app = await mountApp({ choices: { words: true, combine: "layers_max" } });
    await drawn(app);
    expect(find(app, ".title").textContent).toContain("Largest of all 16 heads, by token");
    app.state.combine.value = "layers_mean";
    await expect.poll(() => find(app, ".title").textContent).not.toContain("by token");
  });
});

describe("side by side", () => {
  const toggle = page.getByRole("button", { name: "Horizontal", exact: true });

  test("the queries stand in a line above that of the keys, the matrix below both", async () => {
    const app = await mountApp();
    await userEvent.click(toggle);
    await expect.element(list("Queries")).toHaveAttribute("aria-orientation", "horizontal");
    await drawn(app);
    const box = (element: Element) => element.getBoundingClientRect();
    const [queries, keys] = (["Queries", "Keys"] as const).map((name) =>
      list(name).getByRole("option").elements().map(box),
    );
    for (const line of [queries, keys]) {
      expect(new Set(line.map(({ top }) => top)).size).toBe(1);
      line.slice(1).forEach(({ left }, n) => {
        expect(left).toBeGreaterThanOrEqual(line[n].right - 0.5);
      });
    }
    const lines = box(find(app, "canvas.base"));
    expect(lines.top).toBeGreaterThanOrEqual(queries[0].bottom);
    expect(keys[0].top).toBeGreaterThanOrEqual(lines.bottom);
    expect(box(find(app, ".stage")).top).toBeGreaterThan(keys[0].bottom);
  });

  test("arrows go left and right", async () => {
    const { state } = await mountApp({ choices: { orientation: "horizontal" } });
    await expect.element(list("Queries")).toBeVisible();
    focus(list("Queries"));
    for (const [key, query] of [
      ["{ArrowRight}", 0],
      ["{ArrowRight}", 1],
      ["{ArrowDown}", 1],
      ["{ArrowLeft}", 0],
      ["{End}", 8],
      ["{ArrowRight}", 8],
    ] as const) {
      await userEvent.keyboard(key);
      expect(state.hover.value).toEqual({ query, key: null });
    }
    await userEvent.keyboard("{Enter}");
    expect(state.query.value).toBe(8);
  });

  test("long tokens are shortened in the middle, and whole in their names", async () => {
    await mountApp({ choices: { orientation: "horizontal" } });
    for (const at of [1, 3]) {
      const long = option("Keys", at);
      await expect.element(long).toHaveTextContent(/^.+….+$/);
      await expect.element(long).toHaveAttribute("aria-label", LABELS[at]);
      await expect.element(long).toHaveAttribute("title", LABELS[at]);
      expect(long.element().getBoundingClientRect().width).toBeLessThanOrEqual(160);
    }
    expect(option("Keys", 2).element().hasAttribute("aria-label")).toBe(false);
  });
});
