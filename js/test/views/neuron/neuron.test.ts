/** The neuron view explains one weight by the vectors that it comes from. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { MARKS } from "../../../src/views/neuron/layout.ts";
import { parts } from "../../support/locators.ts";
import { type App, find, mountApp, painted } from "../../support/mounted.ts";
import { LABELS, NAMES, scoreAt, signed, weightAt } from "../../support/numbers.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { vector } from "./vectors-of.ts";

expectNoProblems();

const { option, status } = parts();

describe("the status line", () => {
  test.for([
    { layer: 0, head: 3, keyHead: 3, query: 5, key: 2, scaling: "÷ √4" },
    // Here the product of the largest magnitude is negative.
    { layer: 0, head: 1, keyHead: 1, query: 8, key: 2, scaling: "÷ √4" },
    { layer: 2, head: 7, keyHead: 3, query: 5, key: 2, scaling: "× 0.25, softcap 4·tanh(x/4)" },
  ])("adds up the products of $query and $key, head $head, layer $layer", async (given) => {
    const { layer, head, keyHead, query, key, scaling } = given;
    await mountApp({ choices: { view: "neuron", layer, head, query } });
    await userEvent.hover(option("Keys", key));
    const q = vector(layer, "queries", head, query);
    const k = vector(layer, "keys", keyHead, key);
    const products = q.map((value, n) => value * k[n]);
    const dot = products.reduce((sum, value) => sum + value, 0);
    const largest = Math.max(...products.map(Math.abs));
    const top = products.findIndex((value) => Math.abs(value) === largest);
    const score = scoreAt(layer, head, query, key) ?? Number.NaN;
    const shown = [
      `Layer ${layer} · Head ${head}  ${NAMES[query]} → ${NAMES[key]} `,
      `q·k ${signed(dot)} · ${scaling} = ${signed(score)} · `,
      `softmax ${weightAt(layer, head, query, key).toFixed(3)} · `,
    ];
    await expect.poll(status).toContain(shown.join(""));
    const sign = products[top] > 0 ? "+" : "";
    expect(status()).toContain(`neuron ${top} adds ${sign}${signed(products[top])}`);
  });

  test("says that a key is masked", async () => {
    await mountApp({ choices: { view: "neuron", layer: 2, query: 2 } });
    await userEvent.hover(option("Keys", 6));
    await expect.poll(status).toContain(`${NAMES[2]} → ${NAMES[6]} masked`);
  });

  /** The pair of a query and the key that it attends to most. */
  function strongestPair(layer: number, query: number): string {
    const weights = LABELS.map((_, key) => weightAt(layer, 0, query, key));
    return `${NAMES[query]} → ${NAMES[weights.indexOf(Math.max(...weights))]} `;
  }

  test("is of the first word and its strongest key, where nothing is looked at", async () => {
    await mountApp({ choices: { view: "neuron" } });
    await expect.poll(status).toContain(strongestPair(0, 1));
  });

  test("is of the last word, where words see only those before them", async () => {
    await mountApp({ choices: { view: "neuron", layer: 2 } });
    await expect.poll(status).toContain(strongestPair(2, 7));
  });

  test("stays with the query last looked at", async () => {
    const { state } = await mountApp({ choices: { view: "neuron" } });
    await userEvent.hover(option("Queries", 4));
    await userEvent.hover(option("Keys", 3));
    await expect.poll(status).toContain(`${NAMES[4]} → ${NAMES[3]} `);
    state.hover.value = null;
    await expect.poll(status).toContain(strongestPair(0, 4));
  });

  test("keeps the locked query while keys are looked at, and locked", async () => {
    const { state } = await mountApp({ choices: { view: "neuron" } });
    await userEvent.click(option("Queries", 6));
    expect(state.query.value).toBe(6);
    await userEvent.click(option("Keys", 3));
    expect([state.query.value, state.key.value]).toEqual([6, 3]);
    await expect.poll(status).toContain(`${NAMES[6]} → ${NAMES[3]} `);
  });
});

describe("the columns", () => {
  const heads = (app: App) =>
    [...app.shadow.querySelectorAll(".column-headers span:first-child")].map(
      ({ textContent }) => textContent,
    );

  test("are named, with the real scale", async () => {
    const app = await mountApp({ choices: { view: "neuron" } });
    await expect
      .poll(() => heads(app))
      .toEqual(["Query q", "Key k", "q × k", "q·k ÷ √4", "Softmax"]);
    app.state.layer.value = 2;
    await expect.poll(() => heads(app)[3]).toBe("q·k × 0.25");
  });

  test("fit beside each other, at any width", async () => {
    for (const width of [640, 760, 1100]) {
      const app = await mountApp({ width, choices: { view: "neuron" } });
      await expect.poll(() => heads(app).length).toBe(5);
      const spans = [...app.shadow.querySelectorAll(".column-headers div")];
      const boxes = spans.map((span) => span.getBoundingClientRect());
      const right = find(app, ".neuron-view").getBoundingClientRect().right;
      boxes.forEach(({ right: end }, n) => {
        expect(end).toBeLessThanOrEqual((boxes[n + 1]?.left ?? right) + 1);
      });
      app.unmount();
    }
  });
});

describe("where it is narrow", () => {
  const footer = (app: App) => find(app, "footer").textContent;

  test("tokens whose vectors are left out are named, and the legend says why", async () => {
    const app = await mountApp({ width: 430, choices: { view: "neuron" } });
    await expect.element(page.getByText("Query", { exact: true })).toBeVisible();
    await expect.element(page.getByText("Key", { exact: true })).toBeVisible();
    expect(footer(app)).toContain("no room for q and k");
    app.unmount();
    const wide = await mountApp({ choices: { view: "neuron" } });
    await expect.element(page.getByText("Query q", { exact: true })).toBeVisible();
    expect(footer(wide)).not.toContain("no room");
  });
});

describe("the picture", () => {
  const rowOf = (app: App) =>
    find(app, ".tokens.query").getBoundingClientRect().height / LABELS.length;

  /** Per row, the signs that its pixels have from left to right, repetitions left out. */
  function signs(canvas: HTMLCanvasElement, y: number): string {
    const { height } = canvas.getBoundingClientRect();
    const line = Math.round((y * canvas.height) / height);
    const data = canvas.getContext("2d")?.getImageData(0, line, canvas.width, 1).data ?? [];
    let out = "";
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] < 3) continue;
      // Positive numbers are blue, negative ones orange.
      const sign = data[at + 2] > data[at] ? "+" : "-";
      if (!out.endsWith(sign)) out += sign;
    }
    return out;
  }

  test("has the signs of every query's components, from left to right", async () => {
    const app = await mountApp({ choices: { view: "neuron", head: 2, query: 0 } });
    await expect.element(option("Queries", 0)).toBeInTheDocument();
    const canvas = find<HTMLCanvasElement>(app, ".neurons canvas");
    const row = rowOf(app);
    // The explained query has a frame around it and curves beside it.
    for (let query = 3; query < LABELS.length; query++) {
      const components = vector(0, "queries", 2, query).filter((value) => value !== 0);
      const expected = components
        .map((value) => (value > 0 ? "+" : "-"))
        .filter((sign, n, all) => sign !== all[n - 1])
        .join("");
      expect(signs(canvas, MARKS + (query + 0.3) * row).slice(0, expected.length)).toBe(expected);
    }
  });

  test("follows head, query and theme", async () => {
    const app = await mountApp({ choices: { view: "neuron" } });
    await expect.element(option("Queries", 0)).toBeInTheDocument();
    const canvas = find<HTMLCanvasElement>(app, ".neurons canvas");
    expect(painted(canvas)).toBeGreaterThan(1000);
    const pictures = new Set([canvas.toDataURL()]);
    app.state.head.value = 1;
    pictures.add(canvas.toDataURL());
    app.state.query.value = 7;
    pictures.add(canvas.toDataURL());
    app.state.hover.value = { query: null, key: 3 };
    pictures.add(canvas.toDataURL());
    app.state.theme.value = "dark";
    pictures.add(canvas.toDataURL());
    expect(pictures.size).toBe(5);
  });

  test("answers to the pointer: queries on its left, keys on its right", async () => {
    const app = await mountApp({ choices: { view: "neuron" } });
    await expect.element(option("Queries", 0)).toBeInTheDocument();
    const canvas = find(app, ".neurons canvas");
    const { width } = canvas.getBoundingClientRect();
    const row = rowOf(app);
    const beside = find(app, ".tokens.query").getBoundingClientRect().width + 30;
    await userEvent.hover(canvas, { position: { x: beside, y: 5.5 * row } });
    expect(app.state.hover.value).toEqual({ query: 5, key: null });
    await userEvent.hover(canvas, { position: { x: 0.5 * width, y: 3.5 * row } });
    expect(app.state.hover.value).toEqual({ query: null, key: 3 });
    await userEvent.click(canvas, { position: { x: beside, y: 5.5 * row } });
    expect(app.state.query.value).toBe(5);
    await userEvent.hover(canvas, { position: { x: 0.5 * width, y: 3.5 * row } });
    expect(status()).toContain(`${NAMES[5]} → ${NAMES[3]} `);
  });
});

test("a layer of weights alone says what is missing, and how to get it", async () => {
  await mountApp({ choices: { view: "neuron", layer: 1 } });
  await expect
    .element(page.getByRole("tabpanel"))
    .toHaveTextContent("recorded as attention weights alone");
  await expect.element(page.getByRole("tabpanel")).toHaveTextContent("attnwidget.capture");
});
