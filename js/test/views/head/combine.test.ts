/** Several heads as one: of a layer, or of all layers. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { Source } from "../../../src/data/store.ts";
import { eventually } from "../../support/eventually.ts";
import { parts } from "../../support/locators.ts";
import { type App, drawn, find, mountApp, painted, sourceOf } from "../../support/mounted.ts";
import { headsAt, LABELS, mean, NAMES, strongest, weightAt } from "../../support/numbers.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

const { option, status, swatches, alert } = parts();
const show = page.getByRole("combobox", { name: "Show", exact: true });
const most = (values: readonly number[]) => Math.max(...values);
/** The head of the largest weight, as the status line says it. */
const headOf = (weights: readonly number[]) => ` (head ${weights.indexOf(most(weights))})`;
const nothing = () => "";
/** Every token, and every head of every layer. */
const ALL = [...LABELS.keys()];
const HEADS = [4, 2, 10].flatMap((count, layer) =>
  Array.from({ length: count }, (_, head) => `layer ${layer}, head ${head}`),
);
const TITLE = ".title strong";

/** The number that the status line gives for a key. */
const said = (name: string) => {
  const [, keys] = status()?.split(" →") ?? [];
  return Number(keys?.split(` ${name} `)[1]?.match(/^\d\.\d{3}/)?.[0] ?? Number.NaN);
};

describe("the heads of a layer", () => {
  test.for([
    { choice: "Mean of heads", name: "Mean of 4 heads", how: mean, origin: nothing },
    { choice: "Max of heads", name: "Largest of 4 heads", how: most, origin: headOf },
  ])("$choice", async ({ choice, name, how, origin }) => {
    const app = await mountApp();
    await drawn(app);
    await userEvent.selectOptions(show, choice);
    await userEvent.hover(option("Queries", 2));
    const row = strongest(
      [0],
      (_, key) => how(headsAt([0], 2, key)),
      ALL,
      (key) => origin(headsAt([0], 2, key)),
    );
    await expect.poll(status).toBe(`Layer 0 · ${name}  cat → ${row}`);
    await userEvent.hover(option("Keys", 6));
    const column = strongest(
      [0],
      (_, query) => how(headsAt([0], query, 6)),
      ALL,
      (query) => origin(headsAt([0], query, 6)),
    );
    await expect.poll(status).toBe(`Layer 0 · ${name}  ${NAMES[6]} ← ${column}`);
    expect(find(app, TITLE).textContent).toBe(`Layer 0 · ${name}`);
  });

  test("are those that are switched on", async () => {
    const { state } = await mountApp({ choices: { combine: "mean", query: 2, heads: [1, 3] } });
    const of = (...heads: number[]) =>
      strongest([0], (_, key) => mean(heads.map((head) => weightAt(0, head, 2, key))));
    await expect.poll(status).toContain(`Layer 0 · Mean of 2 heads  cat → ${of(1, 3)}`);
    await userEvent.click(swatches.nth(0));
    await expect.poll(status).toContain(`Mean of 3 heads  cat → ${of(0, 1, 3)}`);
    state.heads.value = [2];
    await expect.poll(status).toContain(`Mean of head 2  cat → ${of(2)}`);
  });

  test("as one have no score", async () => {
    const { state } = await mountApp({ choices: { combine: "max", query: 2, key: 5 } });
    const heads = headsAt([0], 2, 5);
    const pair = `Layer 0 · Largest of 4 heads  cat → ${NAMES[5]}`;
    const said = `${pair} weight ${most(heads).toFixed(3)}${headOf(heads)} · Esc releases`;
    await expect.poll(status).toBe(said);
    state.combine.value = "none";
    await expect.poll(status).toContain("score");
  });
});

describe("all layers", () => {
  test.for([
    { choice: "Mean of all layers", name: "Mean of all 16 heads", how: mean },
    { choice: "Max of all layers", name: "Largest of all 16 heads", how: most },
  ])("$choice", async ({ choice, name, how }) => {
    const app = await mountApp({ choices: { query: 2 } });
    await drawn(app);
    await userEvent.selectOptions(show, choice);
    await expect.poll(status).toContain(`${name}  cat → `);
    expect(status()).not.toContain("Layer");
    const keys = LABELS.map((_, key) => ({ key, weight: how(headsAt([0, 1, 2], 2, key)) }));
    for (const { key, weight } of keys.sort((a, b) => b.weight - a.weight).slice(0, 3)) {
      // Rounded to float16, with three decimals.
      expect(Math.abs(said(NAMES[key]) - weight)).toBeLessThanOrEqual(0.00075);
    }
    const [first] = keys;
    const place = `(${HEADS[headsAt([0, 1, 2], 2, first.key).indexOf(first.weight)]})`;
    if (how === most) expect(status()).toContain(place);
    else expect(status()).not.toContain("head ");
    expect(find(app, TITLE).textContent).toBe(name);
    expect(painted(find<HTMLCanvasElement>(app, "canvas.base"))).toBeGreaterThan(0);
  });

  test("have no heads to switch on or off, and leave the tokens in their place", async () => {
    const app = await mountApp();
    await drawn(app);
    const top = () => option("Queries", 0).element().getBoundingClientRect().top;
    const before = top();
    await userEvent.selectOptions(show, "Mean of all layers");
    await expect
      .poll(() => app.shadow.querySelector(TITLE)?.textContent)
      .toBe("Mean of all 16 heads");
    expect(swatches.elements()).toEqual([]);
    expect(top()).toBe(before);
    await userEvent.selectOptions(show, "Single heads");
    await expect.poll(() => swatches.elements().length).toBe(4);
  });

  test("stay the same on another layer", async () => {
    const { state } = await mountApp({ choices: { combine: "layers_max", query: 4 } });
    await expect.poll(status).toContain("Largest of all 16 heads");
    const before = status();
    state.layer.value = 2;
    await eventually(() => expect(status()).toBe(before));
  });

  test("that cannot be had say why, and are asked for once", async () => {
    let asked = 0;
    const layers = sourceOf();
    const source: Source = {
      ...layers,
      async combined() {
        asked += 1;
        throw new Error("The kernel is gone.");
      },
    };
    const app: App = await mountApp({ source, choices: { combine: "layers_mean" } });
    await expect.element(alert).toHaveTextContent("The kernel is gone.");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(asked).toBe(1);
    app.state.combine.value = "none";
    await drawn(app);
    expect(alert.elements()).toEqual([]);
  });
});
