/** The numbers of the head view are the record's. */

import { describe, expect, test } from "vitest";
import { userEvent } from "vitest/browser";
import { Absent } from "../../../src/data/resource-cache.ts";
import type { Source } from "../../../src/data/store.ts";
import { goTo } from "../../../src/state/navigation.ts";
import { parts } from "../../support/locators.ts";
import { type App, drawn, find, mountApp, sourceOf } from "../../support/mounted.ts";
import { LABELS, NAMES, strongest, weightAt } from "../../support/numbers.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { OVERVIEW, RECORD, withStacks } from "../../support/vectors.ts";

expectNoProblems();

const { option, status, labels, filter, alert } = parts();
/** All heads of each of the layers 0, 1 and 2. */
const HEADS = [4, 2, 10].map((count) => Array.from({ length: count }, (_, head) => head));
const legend = (app: App) => find(app, ".about").textContent;

describe("the status line", () => {
  test.for([0, 1, 2])(
    "names what a query attends to most, and in which head, layer %i",
    async (layer) => {
      await mountApp({ choices: { layer } });
      for (const query of [8, 2, 5]) {
        await userEvent.hover(option("Queries", query));
        const expected = strongest(HEADS[layer], (head, key) => weightAt(layer, head, query, key));
        await expect.poll(status).toBe(`Layer ${layer}  ${NAMES[query]} → ${expected}`);
      }
    },
  );

  test.for([0, 1, 2])(
    "names who attends to a key most, and in which head, layer %i",
    async (layer) => {
      await mountApp({ choices: { layer } });
      for (const key of [3, 6]) {
        await userEvent.hover(option("Keys", key));
        const expected = strongest(HEADS[layer], (head, query) =>
          weightAt(layer, head, query, key),
        );
        await expect.poll(status).toBe(`Layer ${layer}  ${NAMES[key]} ← ${expected}`);
      }
    },
  );

  test("is of the heads that are drawn", async () => {
    const { state } = await mountApp({ choices: { query: 1, heads: [2] } });
    const expected = (...heads: number[]) =>
      strongest(heads, (head, key) => weightAt(0, head, 1, key));
    await expect.poll(status).toContain(`Layer 0 · Head 2  ${NAMES[1]} → ${expected(2)}`);
    state.heads.value = [0, 3];
    await expect.poll(status).toContain(`Layer 0  ${NAMES[1]} → ${expected(0, 3)}`);
  });

  test("reads from left to right, whichever way its tokens are written", async () => {
    const app = await mountApp({ choices: { key: 5, heads: [0] } });
    await expect.poll(status).toContain(`${NAMES[5]} ← `);
    const said = [...find(app, ".status").childNodes].filter(({ textContent }) => textContent);
    const lefts = said.map((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return range.getBoundingClientRect().left;
    });
    expect(lefts).toEqual([...lefts].sort((a, b) => a - b));
  });

  test("says how to let go of what is locked, and how to begin", async () => {
    const { state } = await mountApp({ choices: { query: 1 } });
    await expect.poll(status).toContain("Esc releases");
    state.query.value = null;
    await expect.poll(status).toBe("Point at a token to see its attention; click to keep it.");
  });
});

describe("the legend", () => {
  test("says how much of the attention is drawn, rounded down", async () => {
    const app = await mountApp({ choices: { heads: [2] } });
    const weights = LABELS.flatMap((_, query) =>
      LABELS.map((_, key) => weightAt(0, 2, query, key)),
    );
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    const share = (100 * sum(weights.filter((weight) => weight >= 0.0005))) / sum(weights);
    expect(share).toBeLessThan(100);
    const shown = `${Math.floor(10 * share) / 10}% of attention shown`;
    await expect.poll(() => legend(app)).toContain(shown);
    // Nothing in layer 1 is that faint.
    goTo(app.state, { layer: 1 });
    await expect.poll(() => legend(app)).toContain("kept as weights");
    expect(legend(app)).not.toContain("of attention shown");
  });

  test("counts one of them as one", async () => {
    const { stacks } = RECORD.manifest as {
      stacks: { name: string; layers: { heads: number }[] }[];
    };
    const [self] = stacks;
    const one = { ...self, layers: self.layers.slice(0, 1) };
    const app = await mountApp({
      record: { ...RECORD, manifest: withStacks([one]) },
    });
    await drawn(app);
    expect(legend(app)).toContain(`9 tokens · 1 layer × ${one.layers[0].heads} heads`);
  });

  test("names the model, the tokens, layers and heads", async () => {
    const app = await mountApp();
    await drawn(app);
    expect(legend(app)).toContain("tiny · 9 tokens · 3 layers × 2–10 heads");
  });
});

describe("a text pair", () => {
  test("shows the tokens of the parts chosen, and their numbers stay their own", async () => {
    const app = await mountApp();
    await userEvent.selectOptions(filter, "A → B");
    await expect.poll(() => labels("Queries")).toEqual(LABELS.slice(0, 5));
    expect(labels("Keys")).toEqual(LABELS.slice(5));
    await drawn(app);
    // Attention from queries of A to keys outside of B is hidden.
    const weights = [0, 1, 2, 3, 4].flatMap((query) =>
      [5, 6, 7, 8].flatMap((key) => [0, 1, 2, 3].map((head) => weightAt(0, head, query, key))),
    );
    const share = (100 * weights.reduce((sum, weight) => sum + weight, 0)) / (5 * 4);
    const shown = `${Math.floor(10 * share) / 10}% of attention shown`;
    await expect.poll(() => legend(app)).toContain(shown);
    await userEvent.hover(option("Keys", 1));
    expect(app.state.focus.value).toEqual({ query: null, key: 6 });
    const weightOf = (head: number, query: number) => weightAt(0, head, query, 6);
    const expected = strongest(HEADS[0], weightOf, [0, 1, 2, 3, 4]);
    expect(status()).toContain(`${NAMES[6]} ← ${expected}`);
  });
});

test("two texts have headings, and say what a row is for", async () => {
  const app = await mountApp({ record: OVERVIEW, choices: { stack: "cross", layer: 3 } });
  await drawn(app);
  const titles = () =>
    [...app.shadow.querySelectorAll(".titles span")].map((each) => each.textContent);
  expect(titles()).toEqual(["Decoder queries", "Encoder keys"]);
  expect(find(app, ".title").textContent).toContain(
    "rows: decoder queries · columns: encoder keys",
  );
  expect(legend(app)).toContain("a query’s row makes the next token");
  app.state.orientation.value = "horizontal";
  await expect.poll(titles).toEqual(["Decoder queries above", "Encoder keys below"]);
  app.state.stack.value = "encoder";
  await expect.poll(titles).toEqual([]);
  expect(legend(app)).not.toContain("next token");
});

test("a layer that is not here takes the height of the one before", async () => {
  const all = sourceOf();
  const source: Source = {
    ...all,
    block: (stack, layer, abort) =>
      layer === 1 ? Promise.reject(new Absent("Not here.")) : all.block(stack, layer, abort),
  };
  const app = await mountApp({ source });
  await drawn(app);
  const height = () => find(app, ".body").getBoundingClientRect().height;
  const before = height();
  goTo(app.state, { layer: 1 });
  await expect.element(alert).toHaveTextContent("Not here.");
  expect(height()).toBeCloseTo(before, 0);
  goTo(app.state, { layer: 2 });
  await drawn(app);
  expect(find(app, ".layer-view").style.minHeight).toBe("");
});
