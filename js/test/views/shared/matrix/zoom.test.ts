/** The matrix of a long text: some of its names at rest, and a part of it as large as is wanted. */

import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { LayerData } from "../../../../src/data/layer-data.ts";
import { eventually } from "../../../support/eventually.ts";
import { mountLong } from "../../../support/long.ts";
import { type App, drawn, find, mountApp, painted } from "../../../support/mounted.ts";
import { twoFrames } from "../../../support/place.ts";
import { expectNoProblems } from "../../../support/problems.ts";

expectNoProblems();

const ROOM = 76;
const button = (name: string) => page.getByRole("button", { name, exact: true });
const stage = page.getByRole("group", { name: "Matrix", exact: true });
const picture = (app: App) => find<HTMLCanvasElement>(app, ".stage canvas");
const overlay = (app: App) => find<HTMLCanvasElement>(app, ".stage canvas.overlay");
const title = (app: App) => find(app, ".matrix .title").textContent ?? "";

async function shown(choices = {}, tokens = 400): Promise<App> {
  const app = await mountLong(tokens, { choices, width: 1180 });
  await expect.element(stage).toBeVisible();
  await twoFrames();
  return app;
}

/** Middle of a cell in CSS pixels from the stage, while the whole matrix is shown. */
function middle(app: App, row: number, column: number, tokens = 400) {
  const cell = (picture(app).getBoundingClientRect().width - ROOM - 2) / tokens;
  return { x: ROOM + 1 + (column + 0.5) * cell, y: ROOM + 1 + (row + 0.5) * cell };
}

function wheel(app: App, { x, y }: { x: number; y: number }, deltaY: number, ctrlKey = true) {
  const { left, top } = picture(app).getBoundingClientRect();
  const place = { clientX: left + x, clientY: top + y, bubbles: true, cancelable: true };
  const event = new WheelEvent("wheel", { ...place, deltaY, ctrlKey });
  find(app, ".stage").dispatchEvent(event);
  return event;
}

/** The queries that the title says are shown. */
function queries(app: App): readonly [number, number] {
  const [, first, last] = /queries (\d+)–(\d+)/.exec(title(app)) ?? [];
  return [Number(first), Number(last)];
}

describe("at rest", () => {
  test("has names of some rows, and says what a pixel stands for", async () => {
    const app = await shown({}, 800);
    expect(title(app)).toContain("each pixel the largest of up to 2 × 2");
    const context = picture(app).getContext("2d");
    const beside = context?.getImageData(0, ROOM, ROOM, 400).data ?? [];
    expect(beside.some((value) => value > 0)).toBe(true);
  });

  test("a matrix with room for all its names has nothing to zoom", async () => {
    const app = await mountApp();
    await drawn(app);
    await expect.element(button("Zoom in")).not.toBeInTheDocument();
    await expect.element(stage).not.toBeInTheDocument();
  });
});

describe("zoomed", () => {
  test("keeps the cell under the pointer there, and a plain wheel scrolls the page", async () => {
    const app = await shown();
    const place = middle(app, 100, 300);
    await userEvent.hover(stage, { position: { ...place } });
    expect(app.state.hover.value).toEqual({ query: 100, key: 300 });
    expect(wheel(app, place, -200, false).defaultPrevented).toBe(false);
    expect(app.state.zoom.value).toBeNull();
    for (let n = 0; n < 5; n++) expect(wheel(app, place, -200).defaultPrevented).toBe(true);
    await userEvent.hover(stage, { position: { ...place } });
    const { query, key } = app.state.focus.value;
    // Browsers cut off fractions of a pixel, in which there are cells.
    expect(Math.abs((query ?? 0) - 100)).toBeLessThanOrEqual(1);
    expect(Math.abs((key ?? 0) - 300)).toBeLessThanOrEqual(1);
    const [first, last] = queries(app);
    expect([first <= 100, last >= 100, last - first < 40]).toEqual([true, true, true]);
  });

  test("by button and back, at no other height", async () => {
    const app = await shown();
    const { top } = picture(app).getBoundingClientRect();
    await userEvent.click(button("Zoom in"));
    expect(queries(app)).toEqual([66, 333]);
    expect(picture(app).getBoundingClientRect().top).toBe(top);
    await userEvent.click(button("Whole matrix"));
    expect(title(app)).toContain("rows: queries");
    expect(button("Zoom out").element().getAttribute("aria-disabled")).toBe("true");
  });

  test("by key, and the arrows move it", async () => {
    const app = await shown();
    (stage.element() as HTMLElement).focus();
    await userEvent.keyboard("+++");
    const [first, last] = queries(app);
    await userEvent.keyboard("{ArrowDown}");
    expect(queries(app)[0]).toBeGreaterThan(first);
    expect(queries(app)[1] - queries(app)[0]).toBeCloseTo(last - first, -1);
    await userEvent.keyboard("{ArrowUp}0");
    expect(app.state.zoom.value).toBeNull();
  });

  test("a drag moves it and locks nothing", async () => {
    const app = await shown();
    await userEvent.click(button("Zoom in"));
    const [first] = queries(app);
    const canvas = find(app, ".stage");
    const { left, top } = canvas.getBoundingClientRect();
    canvas.setPointerCapture = () => {};
    const at = (type: string, y: number) =>
      canvas.dispatchEvent(
        new PointerEvent(type, { clientX: left + 200, clientY: top + y, bubbles: true }),
      );
    at("pointerdown", 300);
    for (const y of [280, 240, 200]) at("pointermove", y);
    at("pointerup", 200);
    canvas.click();
    expect(queries(app)[0]).toBeGreaterThan(first);
    expect(app.state.query.value).toBeNull();
  });

  test("stays on the same part in another layer", async () => {
    const app = await shown();
    await userEvent.click(button("Zoom in"));
    const part = queries(app);
    app.state.layer.value = 1;
    await expect.poll(() => title(app)).toContain("Layer 1");
    expect(queries(app)).toEqual(part);
  });

  test("goes where the reader goes", async () => {
    const app = await shown();
    for (let n = 0; n < 8; n++) await userEvent.click(button("Zoom in"));
    expect(queries(app)[0]).toBeGreaterThan(100);
    app.state.sought.value = { query: 20, key: 380 };
    const [first, last] = queries(app);
    expect([first <= 20, last >= 20]).toEqual([true, true]);
  });
});

test("buttons zoom in at what is locked", async () => {
  const app = await shown({ query: 380, key: 20 });
  for (let n = 0; n < 8; n++) await userEvent.click(button("Zoom in"));
  const [first, last] = queries(app);
  expect([first <= 380, last >= 380]).toEqual([true, true]);
});

describe("what is locked elsewhere", () => {
  test("is marked at the edge that it is beyond", async () => {
    const app = await shown();
    const { height } = picture(app).getBoundingClientRect();
    for (let n = 0; n < 8; n++) await userEvent.click(button("Zoom in"));
    app.state.query.value = 380;
    app.state.key.value = 200;
    const row = (y: number) => {
      const context = overlay(app).getContext("2d");
      const ratio = overlay(app).height / height;
      const { data } = context?.getImageData(0, Math.round(y * ratio), overlay(app).width, 1) ?? {};
      return data?.filter((value, at) => at % 4 === 3 && value > 0).length ?? 0;
    };
    // A triangle is wider than the two lines beside the column.
    expect(row(height - 8)).toBeGreaterThan(row(height / 2));
    expect(row(ROOM + 8)).toBe(row(height / 2));
    expect(painted(overlay(app))).toBeGreaterThan(0);
  });
});

describe("the work", () => {
  test("of a part is that of its rows, once, and none for a move within it", async () => {
    const app = await shown({}, 1600);
    const layer = app.store.stack("self").layer(0).value;
    if (layer.status !== "ready") throw new Error("The layer is not there.");
    await eventually(() => expect(painted(picture(app))).toBeGreaterThan(0));
    for (let n = 0; n < 8; n++) await userEvent.click(button("Zoom in"));
    await expect.poll(() => title(app)).not.toContain("each pixel");
    const asked = vi.spyOn(layer.data as LayerData, "weightRow");
    const { x, y } = { x: 300, y: 300 };
    wheel(app, { x, y }, -1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(asked).not.toHaveBeenCalled();
    (stage.element() as HTMLElement).focus();
    await userEvent.keyboard("{ArrowDown}{ArrowDown}{ArrowDown}");
    await expect.poll(() => title(app)).not.toContain("each pixel");
    const [first, last] = queries(app);
    const rows = new Set(asked.mock.calls.map(([, row]) => row));
    expect(rows.size).toBeLessThan(2 * (last - first + 1));
  });
});
