/** Muting neurons: scores and weights as if they were not there, said to be so, and undone. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { focus, parts } from "../../support/locators.ts";
import { find, mountApp } from "../../support/mounted.ts";
import { LABELS, NAMES, scoreAt, signed, weightAt } from "../../support/numbers.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { vector } from "./vectors-of.ts";

expectNoProblems();

const { status, tab } = parts();
const list = page.getByRole("listbox", { name: "Neurons", exact: true });
const neuron = (n: number) => list.getByRole("option", { name: `Neuron ${n}`, exact: true });
const unmute = page.getByRole("button", { name: /^Unmute all/ });
const mutedNames = () =>
  list
    .getByRole("option", { selected: true })
    .elements()
    .map((element) => element.getAttribute("aria-label"));

/** Scores and softmax of a row of layer 0 (scale 1/2, no mask) of some components alone. */
function alone(head: number, query: number, neurons: readonly number[]) {
  const q = vector(0, "queries", head, query);
  const dots = LABELS.map((_, key) => {
    const k = vector(0, "keys", head, key);
    return neurons.reduce((sum, n) => sum + q[n] * k[n], 0);
  });
  const powers = dots.map((dot) => Math.exp(dot / 2));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return { dots, scores: dots.map((dot) => dot / 2), weights: powers.map((p) => p / total) };
}

const shown = (value: number) => (value < 0.0005 ? "<0.001" : value.toFixed(3));

describe("what is said of a pair", () => {
  const [head, query, key] = [3, 5, 2];

  test.for([{ left: [1] }, { left: [0, 2, 3] }, { left: [] }])(
    "with $left alone is what these make",
    async ({ left }) => {
      const muted = [0, 1, 2, 3].filter((n) => !left.includes(n));
      await mountApp({ choices: { view: "neuron", head, query, key, muted } });
      const own = {
        dot: 2 * (scoreAt(0, head, query, key) ?? 0),
        weight: weightAt(0, head, query, key),
      };
      const { dots, scores, weights } = alone(head, query, left);
      const count = `${muted.length} neuron${muted.length > 1 ? "s" : ""}`;
      await expect
        .poll(status)
        .toContain(
          `${NAMES[query]} → ${NAMES[key]} q·k ${signed(own.dot)} → ${signed(dots[key])} · ÷ √4 = ` +
            `${signed(own.dot / 2)} → ${signed(scores[key])} · ` +
            `softmax ${shown(own.weight)} → ${shown(weights[key])} without ${count}`,
        );
    },
  );

  test("is told apart from the model's own, above the columns and in the legend", async () => {
    const app = await mountApp({ choices: { view: "neuron", head, query, muted: [1] } });
    const panel = page.getByRole("tabpanel");
    await expect.element(panel.getByText("not the model’s own")).toBeVisible();
    await expect.element(panel.getByText("1 muted").first()).toBeVisible();
    expect(find(app, "footer").textContent).toContain("outlined: the model’s own");
    app.state.muted.value = [];
    await expect.element(panel.getByText("not the model’s own")).not.toBeInTheDocument();
    expect(status()).not.toContain("without");
  });

  test("names the largest neuron that is left, and not how few make 80%", async () => {
    const q = vector(0, "queries", head, query);
    const k = vector(0, "keys", head, key);
    const sizes = q.map((value, n) => Math.abs(value * k[n]));
    const [first, second] = [...sizes.keys()].sort((a, b) => sizes[b] - sizes[a]);
    const { state } = await mountApp({ choices: { view: "neuron", head, query, key } });
    await expect.poll(status).toContain(` · neuron ${first} adds `);
    expect(status()).toContain("80%");
    state.hover.value = { query, key };
    await expect.element(page.getByText(/^▾ \d+/)).toBeVisible();
    state.muted.value = [first];
    await expect.poll(status).toContain(` · neuron ${second} adds `);
    expect(status()).not.toContain("80%");
    state.muted.value = [0, 1, 2, 3];
    await expect.poll(status).not.toContain("adds");
  });

  test("ignores neurons that this head has not", async () => {
    await mountApp({ choices: { view: "neuron", head, query, key, muted: [77] } });
    await expect.poll(status).toContain(`softmax ${shown(weightAt(0, head, query, key))} ·`);
  });
});

describe("by pointer", () => {
  test("a click mutes, another one brings back", async () => {
    const { state } = await mountApp({ choices: { view: "neuron", query: 5 } });
    await userEvent.click(neuron(2));
    expect(state.muted.value).toEqual([2]);
    await expect.poll(mutedNames).toEqual(["Neuron 2"]);
    await userEvent.click(neuron(2));
    expect(state.muted.value).toEqual([]);
    // The locks are as they were.
    expect([state.query.value, state.key.value]).toEqual([5, null]);
  });

  test("a drag mutes all that it comes over, and brings back what was muted", async () => {
    const { state } = await mountApp({ choices: { view: "neuron", query: 5 } });
    await expect.element(neuron(0)).toBeInTheDocument();
    drag(1, 3);
    expect(state.muted.value).toEqual([1, 2, 3]);
    drag(3, 2);
    expect(state.muted.value).toEqual([1]);
  });

  test("a finger that scrolls the page has muted nothing", async () => {
    const { state } = await mountApp({ choices: { view: "neuron", muted: [0] } });
    await expect.element(neuron(2)).toBeInTheDocument();
    point("pointerdown", 2);
    expect(state.muted.value).toEqual([0, 2]);
    point("pointercancel", 2);
    expect(state.muted.value).toEqual([0]);
    point("pointermove", 3);
    expect(state.muted.value).toEqual([0]);
  });

  function drag(from: number, to: number): void {
    point("pointerdown", from);
    point("pointermove", to);
    point("pointerup", to);
  }

  /** A real pointer could not be cancelled; its capture needs one that is down. */
  function point(type: string, n: number): void {
    const element = list.element() as HTMLElement;
    element.setPointerCapture = () => {};
    const { left, top, width } = neuron(n).element().getBoundingClientRect();
    const place = { clientX: left + width / 2, clientY: top + 20, bubbles: true };
    neuron(n).element().dispatchEvent(new PointerEvent(type, place));
  }
});

describe("by keyboard", () => {
  test("arrows move, Enter and Space mute and bring back", async () => {
    const { state } = await mountApp({ choices: { view: "neuron", query: 5 } });
    await expect.element(list).toBeInTheDocument();
    focus(list);
    await userEvent.keyboard("{ArrowRight}{ArrowRight}");
    await expect.poll(status).toContain(" · neuron 1: q ");
    await userEvent.keyboard("{Enter}{End} ");
    expect(state.muted.value).toEqual([1, 3]);
    expect(status()).toContain("muted");
    await userEvent.keyboard("{Enter}");
    expect(state.muted.value).toEqual([1]);
    // A query that is locked stays so.
    expect(state.query.value).toBe(5);
  });

  test("Shift with an arrow mutes what it goes over", async () => {
    const { state } = await mountApp({ choices: { view: "neuron" } });
    await expect.element(list).toBeInTheDocument();
    focus(list);
    await userEvent.keyboard("{End}{Shift>}{ArrowLeft}{ArrowLeft}{/Shift}");
    expect(state.muted.value).toEqual([1, 2, 3]);
  });

  test("Shift with End mutes all to the last", async () => {
    const { state } = await mountApp({ choices: { view: "neuron" } });
    await expect.element(list).toBeInTheDocument();
    focus(list);
    await userEvent.keyboard("{ArrowRight}{ArrowRight}{Shift>}{End}{/Shift}");
    expect(state.muted.value).toEqual([1, 2, 3]);
  });

  test("Escape unmutes; then it releases what is locked", async () => {
    const { state } = await mountApp({ choices: { view: "neuron", query: 5, muted: [0, 2] } });
    await expect.element(list).toBeInTheDocument();
    focus(list);
    await userEvent.keyboard("{Escape}");
    expect([state.muted.value, state.query.value]).toEqual([[], 5]);
    await userEvent.keyboard("{Escape}");
    expect(state.query.value).toBeNull();
  });

  test("says what selecting means", async () => {
    await mountApp({ choices: { view: "neuron" } });
    await expect.element(list).toHaveAttribute("aria-multiselectable", "true");
    await expect.element(list).toHaveAccessibleDescription(/selected neuron is muted/i);
  });
});

describe("unmuting", () => {
  test("is a button while something is muted", async () => {
    const { state } = await mountApp({ choices: { view: "neuron" } });
    await expect.element(neuron(0)).toBeInTheDocument();
    expect(unmute.elements()).toEqual([]);
    state.muted.value = [0, 3];
    await expect.element(unmute).toHaveTextContent("Unmute all (2)");
    await userEvent.click(unmute);
    expect(state.muted.value).toEqual([]);
    expect(unmute.elements()).toEqual([]);
    expect(mutedNames()).toEqual([]);
  });

  test("comes with another head, and not with another view", async () => {
    const { state } = await mountApp({ choices: { view: "neuron", muted: [1] } });
    await userEvent.click(tab("Head"));
    await userEvent.click(tab("Neuron"));
    await expect.poll(mutedNames).toEqual(["Neuron 1"]);
    await userEvent.keyboard(".");
    expect(state.muted.value).toEqual([]);
  });
});
