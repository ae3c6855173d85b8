/** Collapsing, the order of neurons, comparing two queries, and what marks neurons and heads. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { focus, parts } from "../../support/locators.ts";
import { type App, find, mountApp } from "../../support/mounted.ts";
import { LABELS, NAMES, scoreAt, signed, weightAt } from "../../support/numbers.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { RECORD, type SentRecord } from "../../support/vectors.ts";
import { vector } from "./vectors-of.ts";

expectNoProblems();

const { option, status, list: column } = parts();
const combobox = (name: string) => page.getByRole("combobox", { name, exact: true });
const vectors = page.getByRole("button", { name: "Vectors", exact: true });
const list = page.getByRole("listbox", { name: "Neurons", exact: true });
const panel = page.getByRole("tabpanel");
const order = () =>
  list
    .getByRole("option")
    .elements()
    .map((element) => Number(element.getAttribute("aria-label")?.split(" ")[1]));

/** |q × k| of layer 0, summed over some keys, the largest first. */
function byMagnitude(head: number, query: number, keys: readonly number[]): number[] {
  const q = vector(0, "queries", head, query);
  const sums = q.map((value, n) =>
    keys.reduce((sum, key) => sum + Math.abs(value * vector(0, "keys", head, key)[n]), 0),
  );
  return [...sums.keys()].sort((a, b) => sums[b] - sums[a]);
}

/** The record with something else said of its first layer. */
function changed(change: object): SentRecord {
  const manifest = structuredClone(RECORD.manifest) as { stacks: { layers: object[] }[] };
  Object.assign(manifest.stacks[0].layers[0], change);
  return { ...RECORD, manifest };
}

describe("vectors", () => {
  test("are shown or not, by a button that says so", async () => {
    const { state } = await mountApp({ choices: { view: "neuron" } });
    await expect.element(vectors).toHaveAttribute("aria-pressed", "true");
    await expect.element(panel.getByText("Query q", { exact: true })).toBeVisible();
    await userEvent.click(vectors);
    expect(state.expanded.value).toBe(false);
    await expect.element(vectors).toHaveAttribute("aria-pressed", "false");
    await expect.element(panel.getByText("Query q", { exact: true })).not.toBeInTheDocument();
    expect(list.elements()).toEqual([]);
    // The remaining columns explain the same pair.
    await expect.element(panel.getByText("Softmax", { exact: true })).toBeVisible();
    await userEvent.hover(option("Queries", 4));
    await expect.poll(status).toContain(`${NAMES[4]} → `);
  });

  test("that are not there leave nothing to choose", async () => {
    await mountApp({ choices: { view: "neuron", layer: 1 } });
    await expect.element(panel).toHaveTextContent("recorded as attention weights alone");
    for (const control of [vectors, combobox("Neurons"), combobox("Compare with")]) {
      expect(control.elements()).toEqual([]);
    }
  });
});

describe("the order of neurons", () => {
  const choices = { view: "neuron", head: 1, query: 8 } as const;

  test("is the model's at first", async () => {
    await mountApp({ choices });
    await expect.poll(order).toEqual([0, 1, 2, 3]);
  });

  test("by the pair follows the key that is locked, or else looked at", async () => {
    const { state } = await mountApp({ choices });
    await userEvent.selectOptions(combobox("Neurons"), "By |q × k| of the pair");
    expect(state.neurons.value).toBe("pair");
    await userEvent.hover(option("Keys", 2));
    await expect.poll(order).toEqual(byMagnitude(1, 8, [2]));
    await userEvent.hover(option("Keys", 5));
    await expect.poll(order).toEqual(byMagnitude(1, 8, [5]));
    await userEvent.click(option("Keys", 5));
    await userEvent.hover(option("Keys", 2));
    expect(order()).toEqual(byMagnitude(1, 8, [5]));
  });

  test("summed is of all keys", async () => {
    await mountApp({ choices });
    await userEvent.selectOptions(combobox("Neurons"), "By |q × k| summed");
    await expect.poll(order).toEqual(byMagnitude(1, 8, [...LABELS.keys()]));
  });

  test("is that of the strips too: what is muted is the neuron that is meant", async () => {
    const { state } = await mountApp({ choices: { ...choices, neurons: "pair", key: 2 } });
    const wanted = byMagnitude(1, 8, [2]);
    await expect.poll(order).toEqual(wanted);
    await userEvent.click(list.getByRole("option").nth(0));
    expect(state.muted.value).toEqual([wanted[0]]);
    expect(status()).toContain(` · neuron ${wanted[0]}: q `);
  });
});

describe("comparing", () => {
  /** "cat → dog q·k 1.00 · ÷ √4 = 0.50 · softmax 0.123" */
  function said(query: number, key: number): string {
    const score = scoreAt(0, 0, query, key) ?? Number.NaN;
    const weight = weightAt(0, 0, query, key).toFixed(3);
    return `${NAMES[query]} → ${NAMES[key]} q·k ${signed(2 * score)} · ÷ √4 = ${signed(score)} · softmax ${weight}`;
  }

  test("tells the numbers of both queries", async () => {
    const { state } = await mountApp({ choices: { view: "neuron", query: 5, key: 2 } });
    await expect.element(combobox("Compare with")).toHaveDisplayValue("None");
    await userEvent.selectOptions(combobox("Compare with"), NAMES[7]);
    expect([state.query.value, state.also.value, state.key.value]).toEqual([5, [7], 2]);
    await expect.poll(status).toContain(`${said(5, 2)} · compared with ${said(7, 2)}`);
    await expect.element(panel.getByText(`${NAMES[5]} above, ${NAMES[7]} below`)).toBeVisible();
    await userEvent.selectOptions(combobox("Compare with"), "None");
    await expect.poll(status).not.toContain("compared");
    expect(state.also.value).toEqual([]);
  });

  test("tells what a neuron that is looked at adds to both", async () => {
    await mountApp({ choices: { view: "neuron", query: 5, also: [7], key: 2 } });
    await userEvent.hover(list.getByRole("option").nth(1), { position: { x: 2, y: 2.5 * 28 } });
    const k = vector(0, "keys", 0, 2)[1];
    const [one, other] = [5, 7].map((query) => {
      const value = vector(0, "queries", 0, query)[1] * k;
      return `${value > 0 ? "+" : ""}${signed(value)}`;
    });
    await expect.poll(status).toContain(` · neuron 1 adds ${one}, compared ${other}`);
  });

  test("locks the query that is explained, where none is", async () => {
    const { state } = await mountApp({ choices: { view: "neuron" } });
    await expect.element(combobox("Compare with")).toBeVisible();
    await userEvent.selectOptions(combobox("Compare with"), NAMES[7]);
    expect([state.query.value, state.also.value]).toEqual([1, [7]]);
  });

  test("starts and ends with a Shift-click", async () => {
    const { state } = await mountApp({ choices: { view: "neuron", query: 5, key: 2 } });
    await userEvent.click(option("Queries", 3), { modifiers: ["Shift"] });
    expect([state.query.value, state.also.value, state.key.value]).toEqual([5, [3], 2]);
    await userEvent.click(option("Queries", 3), { modifiers: ["Shift"] });
    expect([state.query.value, state.also.value]).toEqual([5, []]);
  });

  test("goes on for another key, and for another first query", async () => {
    const { state } = await mountApp({ choices: { view: "neuron", query: 5, also: [7] } });
    await userEvent.click(option("Keys", 3));
    expect([state.query.value, state.also.value, state.key.value]).toEqual([5, [7], 3]);
    await userEvent.click(option("Queries", 2));
    expect([state.query.value, state.also.value, state.key.value]).toEqual([2, [7], 3]);
    await userEvent.click(option("Queries", 7));
    expect([state.query.value, state.also.value, state.key.value]).toEqual([7, [], 3]);
    await userEvent.click(option("Queries", 7));
    expect([state.query.value, state.key.value]).toEqual([null, 3]);
  });

  test("by keyboard", async () => {
    const { state } = await mountApp({ choices: { view: "neuron", query: 5 } });
    await expect.element(column("Queries")).toBeVisible();
    focus(column("Queries"));
    await userEvent.keyboard("{Home}{Shift>}{Enter}{/Shift}");
    expect([state.query.value, state.also.value]).toEqual([5, [0]]);
    await userEvent.keyboard("{Enter}");
    expect([state.query.value, state.also.value]).toEqual([0, []]);
  });

  test("stays while the second query is looked at", async () => {
    await mountApp({ choices: { view: "neuron", query: 5, also: [7], key: 2 } });
    await userEvent.hover(option("Queries", 7));
    await expect.poll(status).toContain(`${NAMES[7]} → `);
    expect(status()).toContain(` · compared with ${NAMES[5]} → `);
  });
});

describe("a rotary embedding", () => {
  test.for([
    { pairs: "halves", dims: 4, partner: 3, said: "rotary: n pairs with n + 2" },
    { pairs: "neighbours", dims: 4, partner: 0, said: "rotary: neighbours are pairs" },
  ])("of $pairs names what is rotated together", async ({ pairs, dims, partner, said }) => {
    const record = changed({ rotary: { pairs, dims, start: 0 } });
    const app = await mountApp({ record, choices: { view: "neuron" } });
    await userEvent.hover(list.getByRole("option").nth(1));
    await expect.poll(status).toContain(` · rotated with neuron ${partner}`);
    expect(find(app, "footer").textContent).toContain(said);
  });

  test("is not spoken of where there is none", async () => {
    const app = await mountApp({ choices: { view: "neuron" } });
    await userEvent.hover(list.getByRole("option").nth(1));
    await expect.poll(status).toContain(" · neuron 1: q ");
    expect(find(app, "footer").textContent).not.toContain("rota");
  });
});

describe("above the columns", () => {
  const titleOf = (app: App, name: string) =>
    [...app.shadow.querySelectorAll<HTMLElement>(".column-headers > div")].find((head) =>
      head.textContent?.startsWith(name),
    )?.title;

  test("stands which heads share the keys, how scores come about, and what is masked", async () => {
    const app = await mountApp({ choices: { view: "neuron", layer: 2, head: 7 } });
    await expect.poll(() => titleOf(app, "Key k")).toBe("Key k, keys shared with head 6");
    expect(titleOf(app, "q·k")).toBe("q·k × 0.25, softcap 4·tanh(x/4), causal mask");
  });

  test("stands how few neurons make most of a difference", async () => {
    const app = await mountApp({ choices: { view: "neuron", query: 5, key: 2 } });
    await expect.poll(status).toMatch(/[1-4] of 4 neurons makes? 80% of the difference/);
    const [sentence] = /\d of 4 neurons makes? 80%[a-z ]*/.exec(status() ?? "") ?? [""];
    expect(titleOf(app, "q × k")).toContain(`▾: ${sentence.trim()}`);
  });

  test("and in the row below the keys, stands a head's sink", async () => {
    const program = {
      ...(RECORD.manifest as { stacks: { layers: { program: object }[] }[] }).stacks[0].layers[0]
        .program,
      sinks: [0.5, null, null, null],
    };
    const app = await mountApp({ record: changed({ program }), choices: { view: "neuron" } });
    await expect.element(panel.getByText("sink", { exact: true })).toBeVisible();
    expect(titleOf(app, "Softmax")).toBe("Softmax, with a sink");
    expect(status()).toMatch(/ · sink \d\.\d{3}/);
    app.state.head.value = 1;
    await expect.element(panel.getByText("sink", { exact: true })).not.toBeVisible();
    expect(status()).not.toContain("sink");
  });
});
