/** The map: pointing, choosing, marking, and what it says to everybody. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { readMetrics, readSimilarity } from "../../../src/data/read-manifest.ts";
import type { Choices } from "../../../src/state/choices.ts";
import { goToStack } from "../../../src/state/navigation.ts";
import { focus, parts } from "../../support/locators.ts";
import { type App, find, mountApp } from "../../support/mounted.ts";
import { twoFrames } from "../../support/place.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { OVERVIEW } from "../../support/vectors.ts";

expectNoProblems();

const list = page.getByRole("listbox", { name: "Heads", exact: true });
const option = (layer: number, head: number) =>
  list.getByRole("option", { name: new RegExp(`^Layer ${layer}, head ${head}:`) });
const { status, tab } = parts();

async function mountMap(choices: Partial<Choices> = {}, width = 1900): Promise<App> {
  const app = await mountApp({ choices: { view: "map", ...choices }, width });
  await expect.element(list).toBeVisible();
  return app;
}

/** Values of every head: layer after layer, 4, 2 and 10 of them. */
const rows = (value: (at: number) => number) =>
  [4, 2, 10].map((heads, layer) => Array.from({ length: heads }, (_, at) => value(layer * 4 + at)));

/** A metric with a null between 0 and 1, and a similarity by which neighbours are near. */
function addOwn({ state, store }: App): void {
  const own = (name: string) => ({
    name,
    label: name,
    unit: "",
    digits: 2,
    signed: false,
    directions: null,
    description: "",
    values: { self: rows((at) => at / 2) },
    null: { label: "random weights", values: { self: rows((at) => (at % 5) / 4) } },
    interval: { low: { self: rows((at) => at / 2 - 0.1) }, high: { self: rows((at) => at) } },
  });
  state.ownMetrics.value = readMetrics([own("score"), own("other")], store.manifest);
  state.similarity.value = readSimilarity(
    {
      label: "distance",
      kept: 0.71,
      places: { self: rows((at) => at).map((row) => row.map((at) => [at, (at * at) % 7])) },
      nearest: { self: rows(() => 0).map((row) => row.map(() => [[2, 9, 0.125]])) },
    },
    store.manifest,
  );
}

/** Send a pointer's event to the middle of a head's point. */
function point(type: string, layer: number, head: number, init: PointerEventInit = {}): void {
  const box = option(layer, head).element().getBoundingClientRect();
  const [clientX, clientY] = [box.x + box.width / 2, box.y + box.height / 2];
  const event = new PointerEvent(type, {
    bubbles: true,
    clientX,
    clientY,
    pointerType: "mouse",
    ...init,
  });
  list.element().dispatchEvent(event);
}

const active = () =>
  (list.element().getRootNode() as ShadowRoot)
    .getElementById(`${list.element().getAttribute("aria-activedescendant")}`)
    ?.getAttribute("aria-label") ?? "";

describe("to a screen reader", () => {
  test("every head is an option that says its numbers, and one is selected", async () => {
    const { state } = await mountMap({ layer: 2, head: 9 });
    await expect.element(tab("Map")).toHaveAttribute("aria-selected", "true");
    expect(list.getByRole("option").elements().length).toBe(16);
    const name = /^Layer 2, head 9: .+, distance −?\d+\.\d tokens.*, entropy \d\.\d\d nats$/;
    await expect.element(list.getByRole("option", { name, selected: true })).toBeInTheDocument();
    state.head.value = 1;
    await expect.element(option(2, 1)).toHaveAttribute("aria-selected", "true");
    expect(list.getByRole("option", { selected: true }).elements().length).toBe(1);
  });

  test("the menus, the table, the figure and the lists have names", async () => {
    const app = await mountMap({ map_x: "score", map_y: "other" });
    addOwn(app);
    for (const name of ["x", "y", "Colour by", "Size"]) {
      await expect.element(page.getByRole("combobox", { name, exact: true })).toBeVisible();
    }
    const measures = "Measures, with the 95% range of random weights";
    await expect.element(page.getByRole("table", { name: measures })).toBeVisible();
    await expect.element(page.getByRole("list", { name: "Similar heads" })).toBeVisible();
    await expect.element(page.getByRole("figure", { name: /^Strongest links: / })).toBeVisible();
  });
});

describe("the pointer", () => {
  test("looks at a head, and a click chooses it in all views", async () => {
    const { state } = await mountMap();
    point("pointermove", 2, 4);
    expect(status()).toContain("Layer 2 · Head 4");
    await expect.element(page.getByText("Layer 2 · Head 4").first()).toBeVisible();
    expect([state.layer.value, state.head.value]).toEqual([0, 0]);
    point("click", 2, 4, { detail: 1 });
    expect([state.layer.value, state.head.value]).toEqual([2, 4]);
    point("pointerleave", 2, 4);
    expect(status()).toContain("Layer 2 · Head 4");
  });

  test("paints the points once, whatever it looks at", async () => {
    const app = await mountMap();
    const base = find<HTMLCanvasElement>(app, "[aria-label=Heads] canvas:not(.overlay)");
    const above = find<HTMLCanvasElement>(app, "[aria-label=Heads] canvas.overlay");
    const count = (canvas: HTMLCanvasElement) => {
      const context = canvas.getContext("2d") as CanvasRenderingContext2D;
      const { clearRect } = context;
      const paints = { count: 0 };
      context.clearRect = (...box) => {
        paints.count++;
        clearRect.call(context, ...box);
      };
      return paints;
    };
    const [points, rings] = [count(base), count(above)];
    for (const head of [3, 5, 8]) point("pointermove", 2, head);
    await twoFrames();
    expect([points.count, rings.count]).toEqual([0, 3]);
  });

  test("opens a head alone in the head view with two clicks", async () => {
    const { state } = await mountMap();
    point("click", 2, 5, { detail: 1 });
    point("click", 2, 5, { detail: 2 });
    point("dblclick", 2, 5, { detail: 2 });
    expect([state.view.value, state.layer.value, state.heads.value]).toEqual(["head", 2, [5]]);
  });

  test("marks heads with Shift; Escape releases them", async () => {
    const app = await mountMap();
    const box = list.element().getBoundingClientRect();
    const drag = (type: string, clientX: number, clientY: number) =>
      list
        .element()
        .dispatchEvent(
          new PointerEvent(type, { bubbles: true, shiftKey: true, clientX, clientY, pointerId: 1 }),
        );
    // Not a real pointer, which alone can be captured.
    (list.element() as HTMLElement).setPointerCapture = () => {};
    const legend = () => find(app, ".about").textContent;
    drag("pointerdown", box.left, box.top);
    drag("pointermove", box.right, box.bottom);
    drag("pointerup", box.right, box.bottom);
    await expect.poll(legend).toContain("16 heads marked");
    focus(list);
    await userEvent.keyboard("{Escape}");
    expect(legend()).not.toContain("marked");
  });
});

describe("by keyboard", () => {
  test("arrows move, Enter chooses, and again opens", async () => {
    const { state } = await mountMap({ layer: 2, head: 3 });
    focus(list);
    await userEvent.keyboard("{Home}");
    expect(active()).toMatch(/^Layer 0, head 0:/);
    await userEvent.keyboard("{End}");
    expect(active()).toMatch(/^Layer 2, head 9:/);
    const before = active();
    for (const key of ["{ArrowLeft}", "{ArrowRight}", "{ArrowUp}", "{ArrowDown}"]) {
      await userEvent.keyboard(key);
    }
    await userEvent.keyboard("{Home}");
    expect(active()).not.toBe(before);
    expect([state.layer.value, state.head.value]).toEqual([2, 3]);
    await userEvent.keyboard("{Enter}");
    expect([state.layer.value, state.head.value, state.view.value]).toEqual([0, 0, "map"]);
    await userEvent.keyboard("{Enter}");
    expect(state.view.value).toBe("head");
  });

  test("its digit opens it, and a head is found by its numbers", async () => {
    const { root, shadow, state } = await mountApp();
    const focused = () => shadow.activeElement?.getAttribute("aria-label");
    root.focus();
    await userEvent.keyboard("4/");
    expect(focused()).toBe("Find head");
    await userEvent.keyboard("2-9");
    expect([state.layer.value, state.head.value]).toEqual([2, 9]);
    await userEvent.keyboard("9");
    await expect.element(page.getByText("none", { exact: true })).toBeVisible();
    await userEvent.keyboard("{Enter}");
    expect(focused()).toBe("Heads");
    expect([state.layer.value, state.head.value]).toEqual([2, 9]);
  });
});

describe("the null", () => {
  test("is shown and left out, and heads outside of it are said", async () => {
    const app = await mountMap({ map_x: "score", map_y: "other" });
    const button = page.getByRole("button", { name: "Random weights", exact: true });
    expect(button.elements()).toEqual([]);
    addOwn(app);
    await expect.element(button).toHaveAttribute("aria-pressed", "true");
    const outside = "outside random weights in score (above), other (above)";
    expect(option(2, 9).element().getAttribute("aria-label")).toContain(outside);
    expect(option(0, 0).element().getAttribute("aria-label")).not.toContain("outside");
    const before = option(2, 9).element().getBoundingClientRect();
    focus(list);
    await userEvent.keyboard("r");
    await expect.element(button).toHaveAttribute("aria-pressed", "false");
    // The values of the null lie within those of the heads here.
    expect(option(2, 9).element().getBoundingClientRect()).toEqual(before);
  });
});

describe("similarity", () => {
  test("is offered where it is known, with the nearest heads, which can be chosen", async () => {
    const app = await mountMap();
    const places = page.getByRole("combobox", { name: "x", exact: true });
    expect(places.getByRole("option", { name: "Similarity (MDS)" }).elements()).toEqual([]);
    addOwn(app);
    await userEvent.selectOptions(places, "Similarity (MDS)");
    expect(app.state.map_x.value).toBe("similarity");
    await expect.element(page.getByRole("combobox", { name: "Place by" })).toBeVisible();
    expect(page.getByRole("combobox", { name: "y", exact: true }).elements()).toEqual([]);
    await userEvent.click(page.getByRole("button", { name: "Layer 2, head 9, distance 0.125" }));
    expect([app.state.layer.value, app.state.head.value]).toEqual([2, 9]);
  });
});

test("another stack brings its own heads and metrics", async () => {
  const app = await mountApp({ record: OVERVIEW, choices: { view: "map", stack: "encoder" } });
  await expect.element(list).toBeVisible();
  expect(list.getByRole("option").elements().length).toBe(5);
  point("pointermove", 1, 2);
  goToStack(app.state, "cross");
  await expect.element(option(7, 1)).toBeInTheDocument();
  expect(list.getByRole("option").elements().length).toBe(3);
  expect(status()).toContain("Layer 3 · Head 0");
  const x = page.getByRole("combobox", { name: "x", exact: true });
  await expect.element(x).toHaveValue("first");
});

test("stays while longer detail scrolls beside it", async () => {
  const app = await mountMap({}, 1100);
  const body = find(app, ".body");
  body.style.maxHeight = "400px";
  find(app, ".map-detail").style.minHeight = "2000px";
  const top = () => list.element().getBoundingClientRect().top;
  const before = top();
  body.scrollTo(0, 500);
  expect(top()).toBe(before);
});

test.for([500, 1100])("fits %i px, and looks the same at every head", async (width) => {
  const app = await mountMap({}, width);
  addOwn(app);
  await twoFrames();
  const body = find(app, ".body");
  expect(body.scrollWidth).toBeLessThanOrEqual(body.clientWidth);
  const heights = new Set<number>();
  for (const head of [0, 4, 9]) {
    point("pointermove", 2, head);
    await twoFrames();
    heights.add(app.root.getBoundingClientRect().height);
  }
  expect(heights.size).toBe(1);
});
