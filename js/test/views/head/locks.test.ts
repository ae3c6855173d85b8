/** Several tokens locked together, what of the matrix is masked, and what is found. */

import { describe, expect, test } from "vitest";
import { userEvent } from "vitest/browser";
import { focus, parts } from "../../support/locators.ts";
import { drawn, find, mountApp } from "../../support/mounted.ts";
import { LABELS, NAMES, strongest, sum, weightAt } from "../../support/numbers.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

const { list, option, selected, status } = parts();

describe("several tokens", () => {
  test("are locked one after the other, and show their sum", async () => {
    const app = await mountApp({ choices: { heads: [0, 2] } });
    for (const query of [2, 6]) await userEvent.click(option("Queries", query));
    expect(selected("Queries")).toEqual([LABELS[2], LABELS[6]]);
    await userEvent.hover(find(app, ".status"));
    const expected = strongest([0, 2], (head, key) =>
      sum([2, 6].map((query) => weightAt(0, head, query, key))),
    );
    const names = `${NAMES[2]} + ${NAMES[6]}`;
    expect(status()).toBe(`Layer 0  ${names} → ${expected} (sums) · Esc releases`);
    await userEvent.click(option("Queries", 2));
    expect(selected("Queries")).toEqual([LABELS[6]]);
    await userEvent.hover(find(app, ".status"));
    expect(status()).not.toContain("(sums)");
  });

  test("of a single head have colours of their own, which those locked before keep", async () => {
    const app = await mountApp({ choices: { heads: [1] } });
    const colorsOf = () =>
      [...app.shadow.querySelectorAll<HTMLElement>(".tokens.query [role=option]")]
        .filter((row) => row.getAttribute("aria-selected") === "true")
        .map((row) => row.style.getPropertyValue("--lock"));
    await userEvent.click(option("Queries", 2));
    await userEvent.hover(find(app, ".status"));
    expect(colorsOf()).toEqual([""]);
    await userEvent.click(option("Queries", 6));
    await userEvent.hover(find(app, ".status"));
    const [first, second] = colorsOf();
    expect(first && second && first !== second).toBe(true);
    await userEvent.click(option("Queries", 4));
    await userEvent.hover(find(app, ".status"));
    expect([colorsOf()[0], colorsOf()[2]]).toEqual([first, second]);
    // The lines of several heads have the colours of these.
    app.state.heads.value = [1, 2];
    expect(colorsOf()).toEqual(["", "", ""]);
  });

  test("of both columns are a pair with Shift, by pointer and by keyboard", async () => {
    const { state } = await mountApp({ choices: { heads: [0], query: 2 } });
    await userEvent.keyboard("{Shift>}");
    await userEvent.click(option("Keys", 5));
    await userEvent.keyboard("{/Shift}");
    expect([state.query.value, state.key.value]).toEqual([2, 5]);
    focus(list("Keys"));
    await userEvent.keyboard("{ArrowDown}{Shift>}{Enter}{/Shift}");
    expect([state.query.value, state.key.value]).toEqual([2, 6]);
  });

  test("may be keys too", async () => {
    await mountApp({ choices: { heads: [1], key: 0, also: [4, 8] } });
    const expected = strongest([1], (_, query) =>
      sum([0, 4, 8].map((key) => weightAt(0, 1, query, key))),
    );
    const names = [0, 4, 8].map((at) => NAMES[at]).join(" + ");
    await expect
      .poll(status)
      .toBe(`Layer 0 · Head 1  ${names} ← ${expected} (sums) · Esc releases`);
  });

  test("are counted where they are many", async () => {
    await mountApp({ choices: { heads: [1], query: 0, also: [1, 2, 3] } });
    await expect.poll(status).toContain("4 tokens → ");
  });

  test("of one column let go of those of the other", async () => {
    await mountApp();
    for (const query of [2, 6]) await userEvent.click(option("Queries", query));
    await userEvent.click(option("Keys", 4));
    expect([selected("Queries"), selected("Keys")]).toEqual([[], [LABELS[4]]]);
  });

  test("are all released by Escape", async () => {
    const { state } = await mountApp();
    await expect.element(list("Keys")).toBeVisible();
    focus(list("Keys"));
    await userEvent.keyboard("{ArrowDown}{Enter}{ArrowDown}{ArrowDown} ");
    expect(selected("Keys")).toEqual([LABELS[0], LABELS[2]]);
    await userEvent.keyboard("{Escape}");
    expect(selected("Keys")).toEqual([]);
    expect([state.query.value, state.key.value, state.also.value]).toEqual([null, null, []]);
  });

  test("that a filter hides do not count while it does", async () => {
    const { state } = await mountApp({ choices: { heads: [1], query: 2, also: [6] } });
    await expect.poll(status).toContain("(sums)");
    state.segments.value = "aa";
    const shown = [0, 1, 2, 3, 4];
    const expected = strongest([1], (_, key) => weightAt(0, 1, 2, key), shown);
    await expect.poll(status).toContain(`Head 1  cat → ${expected} · Esc`);
  });
});

describe("a mask", () => {
  test("is said of what a query cannot see", async () => {
    const { state } = await mountApp({ choices: { layer: 2, query: 3, key: 5 } });
    const pair = `Layer 2 · Head 0  ${NAMES[3]} → ${NAMES[5]}`;
    await expect.poll(status).toBe(`${pair} masked: this query cannot see this key · Esc releases`);
    state.key.value = 3;
    await expect.poll(status).toContain(" weight ");
  });

  test("of a combination is a weight of nothing", async () => {
    await mountApp({ choices: { layer: 2, query: 3, key: 5, combine: "mean" } });
    await expect.poll(status).toContain("weight 0.000");
  });
});

test("tokens that are found are marked in both columns", async () => {
  const app = await mountApp();
  await drawn(app);
  const marked = (name: "Queries" | "Keys") =>
    list(name)
      .getByRole("option")
      .elements()
      .flatMap((row, at) => {
        const { textDecorationLine } = getComputedStyle(row.firstElementChild as Element);
        return textDecorationLine === "underline" ? [at] : [];
      });
  expect(marked("Queries")).toEqual([]);
  app.state.find.value = "sep";
  expect([marked("Queries"), marked("Keys")]).toEqual([
    [4, 8],
    [4, 8],
  ]);
  // In the whole label, of which the column shows a part.
  app.state.find.value = "onerror";
  expect(marked("Keys")).toEqual([1]);
  app.state.find.value = "";
  expect(marked("Keys")).toEqual([]);
});
