/** The accessibility tree is a contract, for people and for tests. */

import { describe, expect, test } from "vitest";
import { page } from "vitest/browser";
import { mountApp } from "../support/mounted.ts";
import { LABELS } from "../support/numbers.ts";
import { expectNoProblems } from "../support/problems.ts";
import { OVERVIEW } from "../support/vectors.ts";

expectNoProblems();

const named = (role: Parameters<typeof page.getByRole>[0], name: string) =>
  page.getByRole(role, { name, exact: true });
const names = (locator: ReturnType<typeof named>) =>
  locator.elements().map((element) => element.getAttribute("aria-label") ?? element.textContent);

describe("around every view", () => {
  test.for(["head", "model", "neuron", "map"] as const)(
    "%s: tabs, steppers, a status line",
    async (view) => {
      await mountApp({ choices: { view } });
      await expect.element(named("tab", "Head")).toBeVisible();
      expect(names(page.getByRole("tablist").getByRole("tab"))).toEqual([
        "Head",
        "Model",
        "Neuron",
        "Map",
      ]);
      await expect
        .element(page.getByRole("tab", { selected: true }))
        .toHaveAttribute("id", `tab-${view}`);
      await expect.element(named("spinbutton", "Layer")).toHaveAttribute("aria-valuenow", "0");
      await expect.element(named("spinbutton", "Head")).toHaveAttribute("aria-valuenow", "0");
      await expect.element(page.getByRole("status")).toBeInTheDocument();
      expect(page.getByRole("alert").elements()).toEqual([]);
    },
  );

  test("the view is the panel of the tab that is selected", async () => {
    const { state } = await mountApp();
    await expect.element(named("tabpanel", "Head")).toBeVisible();
    state.view.value = "neuron";
    await expect.element(named("tabpanel", "Neuron")).toBeVisible();
  });
});

describe("the head view", () => {
  test("has two listboxes with an option per token", async () => {
    await mountApp();
    for (const name of ["Queries", "Keys"]) {
      await expect.element(named("listbox", name)).toBeVisible();
      expect(names(named("listbox", name).getByRole("option"))).toEqual(LABELS);
    }
  });

  test("has a button per head that says whether it is drawn", async () => {
    const { state } = await mountApp({ choices: { layer: 2, heads: [0, 9] } });
    await expect.element(named("button", "Head 9")).toHaveAttribute("aria-pressed", "true");
    await expect.element(named("button", "Head 3")).toHaveAttribute("aria-pressed", "false");
    state.layer.value = 0;
    state.heads.value = null;
    const buttons = page.getByRole("group", { name: "Heads" }).getByRole("button");
    await expect.poll(() => names(buttons)).toEqual(["Head 0", "Head 1", "Head 2", "Head 3"]);
  });

  test("offers the parts of a text pair", async () => {
    await mountApp();
    await expect.element(named("combobox", "Attention")).toHaveValue("all");
    expect(names(named("combobox", "Attention").getByRole("option"))).toEqual([
      "All",
      "A → A",
      "A → B",
      "B → A",
      "B → B",
    ]);
  });
});

describe("the model view", () => {
  test("is a grid with a cell per head of every layer", async () => {
    await mountApp({ choices: { view: "model" } });
    const grid = named("grid", "Heads of every layer");
    await expect.element(grid).toBeInTheDocument();
    expect(grid.getByRole("rowheader").elements().length).toBe(3);
    expect(grid.getByRole("columnheader").elements().length).toBe(10);
    expect(names(grid.getByRole("gridcell"))).toEqual(
      [4, 2, 10].flatMap((heads, layer) =>
        Array.from({ length: heads }, (_, head) => `Layer ${layer}, head ${head}`),
      ),
    );
  });

  test("says which cell is selected", async () => {
    const { state, shadow } = await mountApp({ choices: { view: "model", layer: 2, head: 9 } });
    const selected = page.getByRole("gridcell", { selected: true });
    await expect.element(selected).toHaveAttribute("aria-label", "Layer 2, head 9");
    state.head.value = 4;
    await expect.element(selected).toHaveAttribute("aria-label", "Layer 2, head 4");
    // The element that the grid points to exists.
    const active = named("grid", "Heads of every layer")
      .element()
      .getAttribute("aria-activedescendant");
    expect(shadow.getElementById(`${active}`)).toBe(selected.element());
  });
});

describe("what has the focus can be seen", () => {
  test.for([
    { view: "head", role: "listbox", inside: "option" },
    { view: "model", role: "grid", inside: "gridcell" },
    { view: "neuron", role: "listbox", inside: "option" },
    { view: "map", role: "listbox", inside: "option" },
  ] as const)("in the $view view, around all of the $role", async ({ view, role, inside }) => {
    await mountApp({ choices: { view } });
    const whole = page.getByRole(role).first();
    await expect.element(whole).toBeInTheDocument();
    // A box without a size would have an outline around nothing.
    const outer = whole.element().getBoundingClientRect();
    for (const part of whole.getByRole(inside).elements()) {
      const box = part.getBoundingClientRect();
      expect(box.bottom).toBeLessThanOrEqual(outer.bottom);
      expect(box.right).toBeLessThanOrEqual(outer.right);
    }
  });
});

describe("the neuron view", () => {
  test("has the same listboxes", async () => {
    await mountApp({ choices: { view: "neuron" } });
    for (const name of ["Queries", "Keys"]) {
      await expect.element(named("listbox", name)).toBeVisible();
      expect(names(named("listbox", name).getByRole("option"))).toEqual(LABELS);
    }
  });
});

test("tokens of unlike sides are told apart", async () => {
  await mountApp({ record: OVERVIEW, choices: { stack: "cross" } });
  const options = (name: string) => named("listbox", name).getByRole("option");
  await expect.element(named("listbox", "Queries")).toBeVisible();
  expect(names(options("Queries"))).toEqual(["eins", "zwei", "drei"]);
  expect(names(options("Keys"))).toEqual(["one", "two", "three", "four", "five"]);
});

test("a failure is an alert", async () => {
  const source = { block: () => Promise.reject(new Error("There is no layer 0 here.")) };
  await mountApp({ source });
  await expect.element(page.getByRole("alert")).toHaveTextContent("There is no layer 0 here.");
});

test("every id is there once, and what refers to one finds it", async () => {
  const { shadow, state } = await mountApp({ choices: { query: 2 } });
  for (const view of ["head", "model", "neuron", "map"] as const) {
    state.view.value = view;
    const lists = page.getByRole("listbox").or(page.getByRole("grid"));
    await expect.element(lists.first()).toBeInTheDocument();
    const ids = [...shadow.querySelectorAll("[id]")].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const name of ["aria-controls", "aria-labelledby", "aria-activedescendant"]) {
      for (const element of shadow.querySelectorAll(`[${name}]`)) {
        expect(ids).toContain(element.getAttribute(name));
      }
    }
  }
});
