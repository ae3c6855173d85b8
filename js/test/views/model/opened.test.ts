/** A head opened in place, between the rows of the model view. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { eventually } from "../../support/eventually.ts";
import { focus, parts } from "../../support/locators.ts";
import { type App, find, mountModel } from "../../support/mounted.ts";
import { twoFrames } from "../../support/place.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { OVERVIEW } from "../../support/vectors.ts";

expectNoProblems();

const { cell, grid, list } = parts();

const panel = () => page.getByRole("region", { name: /opened$/ });
const button = (name: string) => page.getByRole("button", { name, exact: true });
const boxOf = (locator: { element(): Element }) => locator.element().getBoundingClientRect();
const shown = ({ state }: App) => [state.opened.value, state.layer.value, state.head.value];

describe("a click", () => {
  test("opens the head under its row, and hides none of the others", async () => {
    const app = await mountModel();
    await userEvent.click(cell(1, 1));
    await expect.element(panel()).toHaveAttribute("aria-label", "Layer 1, head 1, opened");
    await expect.element(cell(1, 1)).toHaveAttribute("aria-selected", "true");
    await eventually(() => {
      expect(boxOf(panel()).top).toBeGreaterThanOrEqual(boxOf(cell(1, 0)).bottom);
      expect(boxOf(panel()).bottom).toBeLessThanOrEqual(boxOf(cell(2, 0)).top);
      // The picture is as wide as the view.
      const { clientWidth } = find(app, ".body");
      expect(boxOf(panel()).width).toBeGreaterThan(clientWidth - 60);
    });
  });

  test("on the same head closes it, on another one moves it there", async () => {
    const app = await mountModel();
    await userEvent.click(cell(1, 1));
    await userEvent.click(cell(0, 3));
    expect(shown(app)).toEqual([true, 0, 3]);
    await expect.element(panel()).toHaveAttribute("aria-label", "Layer 0, head 3, opened");
    await expect.poll(() => boxOf(panel()).bottom <= boxOf(cell(1, 0)).top).toBe(true);
    await userEvent.click(cell(0, 3));
    expect(shown(app)).toEqual([false, 0, 3]);
    expect(panel().elements()).toEqual([]);
  });

  test("leaves no gap between the rows when it closes", async () => {
    await mountModel();
    const pitch = () => boxOf(cell(2, 0)).top - boxOf(cell(1, 0)).top;
    const before = pitch();
    await userEvent.click(cell(1, 1));
    await expect.poll(pitch).toBeGreaterThan(before + 50);
    await userEvent.click(button("Close"));
    await expect.poll(pitch).toBe(before);
  });

  test("twice goes to the head view, and the panel is as it was", async () => {
    const app = await mountModel({ choices: { opened: true, layer: 0, head: 2 } });
    // Below the panel: the first click moves the rows up.
    await userEvent.dblClick(cell(2, 6));
    expect(app.state.view.value).toBe("head");
    expect(shown(app)).toEqual([true, 2, 6]);
    expect(app.state.heads.value).toEqual([6]);
    app.state.view.value = "model";
    app.state.opened.value = false;
    await userEvent.dblClick(cell(1, 0));
    expect(shown(app)).toEqual([false, 1, 0]);
  });
});

test("the notch points at the cell", async () => {
  const app = await mountModel({ choices: { opened: true, layer: 2, head: 7 } });
  const middle = ({ left, width }: DOMRect) => left + width / 2;
  for (const [layer, head] of [
    [2, 7],
    [0, 1],
  ]) {
    Object.assign(app.state.layer, { value: layer });
    app.state.head.value = head;
    const notch = find(app, ".notch").getBoundingClientRect();
    expect(Math.abs(middle(notch) - middle(boxOf(cell(layer, head))))).toBeLessThan(1);
    expect(notch.top).toBeGreaterThanOrEqual(boxOf(cell(layer, head)).bottom);
  }
});

describe("the keyboard", () => {
  test("opens with Space, takes the panel along with arrows, closes with Space", async () => {
    const app = await mountModel();
    focus(grid);
    await userEvent.keyboard(" ");
    expect(shown(app)).toEqual([true, 0, 0]);
    await userEvent.keyboard("{ArrowDown}{ArrowRight}");
    expect(shown(app)).toEqual([true, 1, 1]);
    await expect.element(panel()).toHaveAttribute("aria-label", "Layer 1, head 1, opened");
    await userEvent.keyboard(" ");
    expect(shown(app)).toEqual([false, 1, 1]);
  });

  test.for(["the grid", "the panel"])(
    "closes with Escape from %s, and locks stay",
    async (from) => {
      const app = await mountModel({ choices: { opened: true, query: 3 } });
      focus(from === "the grid" ? grid : button("Open in head view"));
      await userEvent.keyboard("{Escape}");
      expect([app.state.opened.value, app.state.query.value]).toEqual([false, 3]);
      expect(app.shadow.activeElement).toBe(grid.element());
      await userEvent.keyboard("{Escape}");
      expect(app.state.query.value).toBe(null);
    },
  );

  test("comes back to the grid from Close", async () => {
    const app = await mountModel({ choices: { opened: true } });
    focus(button("Close"));
    await userEvent.keyboard("{Enter}");
    expect(app.state.opened.value).toBe(false);
    expect(app.shadow.activeElement).toBe(grid.element());
  });
});

test("a button leads to the head view, with the head alone", async () => {
  const app = await mountModel({ choices: { opened: true, layer: 2, head: 3 } });
  await userEvent.click(button("Open in head view"));
  expect([app.state.view.value, app.state.heads.value]).toEqual(["head", [3]]);
  await expect.element(list("Queries")).toBeVisible();
});

test("what the pointer is on is not enlarged where it is opened", async () => {
  const app = await mountModel({ choices: { opened: true, layer: 1, head: 0 } });
  await userEvent.hover(cell(1, 0));
  expect(find(app, ".preview").hidden).toBe(true);
  await userEvent.hover(cell(1, 1));
  expect(find(app, ".preview").hidden).toBe(false);
});

test("a head that is not shown has no panel", async () => {
  await mountModel({ choices: { opened: true, layer: 0, include_layers: [1, 2] } });
  expect(panel().elements()).toEqual([]);
});

test("a head that is left out takes its panel along", async () => {
  const app = await mountModel({ choices: { opened: true, layer: 1 } });
  const pitch = () => boxOf(cell(2, 0)).top - boxOf(cell(1, 0)).top;
  // The rows below the panel move once its height is known.
  await expect.poll(() => boxOf(panel()).bottom <= boxOf(cell(2, 0)).top).toBe(true);
  const before = pitch();
  app.state.layer.value = 0;
  app.state.head.value = 3;
  app.state.include_heads.value = [0, 1];
  expect(panel().elements()).toEqual([]);
  await expect.poll(pitch).toBeLessThan(before);
});

test("another stack's head takes its place", async () => {
  const app = await mountModel({ record: OVERVIEW, choices: { opened: true } });
  app.state.stack.value = "cross";
  await expect.element(panel()).toHaveAttribute("aria-label", "Layer 3, head 0, opened");
});

test("the cell and its panel are scrolled into sight", async () => {
  const app = await mountModel({ choices: { opened: true, layer: 0 } });
  const body = find(app, ".body");
  body.style.maxHeight = "300px";
  focus(grid);
  await userEvent.keyboard("{ArrowDown}{ArrowDown}");
  await eventually(() => {
    const outer = body.getBoundingClientRect();
    expect(boxOf(cell(2, 0)).top).toBeGreaterThanOrEqual(outer.top);
    expect(boxOf(cell(2, 0)).bottom).toBeLessThanOrEqual(outer.bottom);
    expect(boxOf(panel()).top).toBeLessThan(outer.bottom);
  });
});

test("its title and Close stay in sight, below the numbers of the heads", async () => {
  const app = await mountModel({ width: 600, choices: { opened: true } });
  await expect.element(list("Queries")).toBeVisible();
  await twoFrames();
  const body = find(app, ".body");
  body.style.maxHeight = "240px";
  body.scrollTop = 0;
  body.scrollTop = boxOf(panel()).top - body.getBoundingClientRect().top + 60;
  const [outer, close] = [body.getBoundingClientRect(), boxOf(button("Close"))];
  const numbers = boxOf(page.getByRole("columnheader").first());
  expect(boxOf(panel()).top).toBeLessThan(outer.top);
  expect(close.top).toBeGreaterThanOrEqual(numbers.bottom);
  expect(close.bottom).toBeLessThan(outer.top + 100);
});
