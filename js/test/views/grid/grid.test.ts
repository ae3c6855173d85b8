/** The view of grids: pointing, choosing, opening, the null, and what it says to everybody. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { readManifest } from "../../../src/data/read-manifest.ts";
import { palette } from "../../../src/styles/palette.ts";
import { gridCells } from "../../../src/views/grid/cells.ts";
import { cellColor } from "../../../src/views/grid/paint.ts";
import { focus, parts } from "../../support/locators.ts";
import { type App, type AppOptions, find, mountApp, pixel } from "../../support/mounted.ts";
import { LABELS } from "../../support/numbers.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { RECORD } from "../../support/vectors.ts";

expectNoProblems();

const VALUES = [0, 1, 2].map((row) => LABELS.map((_, at) => (at === 2 ? row / 2 : -0.01)));

const POSITIONS = {
  name: "restored",
  label: "restored at residual pre",
  description: "What is restored",
  unit: "",
  digits: 2,
  stack: "self",
  axes: ["layer", "position"],
  rows: [0, 1, 2].map((layer) => [`${layer}`, layer, null]),
  columns: LABELS,
  values: VALUES,
  null: { label: "permuted positions", values: VALUES.map((row) => row.map((_, at) => at / 100)) },
};

const HEADS = {
  ...POSITIONS,
  label: "restored at head",
  axes: ["layer", "head"],
  columns: [..."0123456789"],
  values: [0, 1, 2].map(() => [..."0123456789"].map((head) => (head === "9" ? null : -1))),
  null: null,
};

const withGrids = (...grids: readonly object[]) => ({
  ...RECORD,
  manifest: { ...(RECORD.manifest as object), grids },
});

const grid = page.getByRole("grid");
const cell = page.getByRole("gridcell");
const { status } = parts();

async function mountGrid(
  grids: readonly object[] = [POSITIONS],
  options: AppOptions = {},
): Promise<App> {
  const app = await mountApp({
    ...options,
    record: withGrids(...grids),
    choices: { view: "grid", layer: 1, query: 2, ...options.choices },
  });
  await expect.element(grid).toBeVisible();
  // The width is known after a frame.
  await expect.poll(() => find(app, ".cells [role=gridcell]").offsetWidth).toBeGreaterThan(60);
  return app;
}

const canvasOf = (app: App) => find<HTMLCanvasElement>(app, ".cells .base");

/** The middle of a cell on the canvas, from the place of the one that is looked at. */
function middleOf(app: App, row: number, column: number) {
  const own = find(app, ".cells [role=gridcell]");
  const [width, height] = [own.offsetWidth - 1, own.offsetHeight - 1];
  const at = {
    row: Number(own.parentElement?.ariaRowIndex) - 1,
    column: Number(own.ariaColIndex) - 1,
  };
  const { offsetLeft, offsetTop } = canvasOf(app);
  const left = own.offsetLeft + 1 - offsetLeft - at.column * width;
  const top = own.offsetTop + 1 - offsetTop - at.row * height;
  return { x: left + (column + 0.5) * width, y: top + (row + 0.5) * height };
}

describe("the tab", () => {
  test("is there where there are grids", async () => {
    await mountApp({ record: withGrids(POSITIONS) });
    await expect.element(parts().tab("Grid")).toBeVisible();
  });

  test("is missing without", async () => {
    await mountApp();
    expect(parts().tab("Grid").elements()).toEqual([]);
  });
});

describe("positions", () => {
  test("the current cell is that of the layer and the query", async () => {
    await mountGrid();
    await expect.element(grid).toHaveAttribute("aria-label", "restored at residual pre");
    await expect.element(cell).toHaveAttribute("aria-colindex", "3");
    await expect.element(cell).toHaveAttribute("aria-selected", "true");
    expect(status()).toContain("Layer 1, position 2");
    expect(status()).toContain(`${LABELS[2]}  restored 0.50   null 0.02 (95%`);
  });

  test("arrows look at cells; Enter chooses one, and again opens the head view", async () => {
    const { state } = await mountGrid();
    focus(grid);
    await userEvent.keyboard("{ArrowDown}{ArrowLeft}");
    await expect.poll(status).toContain("Layer 2, position 1");
    await userEvent.keyboard("{Escape}");
    await expect.poll(status).toContain("Layer 1, position 2");
    await userEvent.keyboard("{ArrowDown}{End}{Enter}");
    expect([state.view.value, state.layer.value]).toEqual(["grid", 2]);
    expect(state.query.value).toBe(LABELS.length - 1);
    await userEvent.keyboard("{Enter}");
    expect(state.view.value).toBe("head");
  });

  test("a click chooses a cell, and another opens it", async () => {
    const app = await mountGrid();
    const position = middleOf(app, 2, 4);
    await userEvent.click(canvasOf(app), { position });
    expect([app.state.layer.value, app.state.query.value]).toEqual([2, 4]);
    // The pointer is still on what it has chosen.
    focus(grid);
    await userEvent.keyboard("{Escape}");
    expect(app.state.query.value).toBeNull();
    await userEvent.hover(canvasOf(app), { position: middleOf(app, 0, 1) });
    await expect.poll(status).toContain("Layer 0, position 1");
    await userEvent.dblClick(canvasOf(app), { position: middleOf(app, 0, 1) });
    expect([app.state.view.value, app.state.layer.value]).toEqual(["head", 0]);
    expect(app.state.query.value).toBe(1);
  });

  test("colours diverge from zero, and n shows the null", async () => {
    const app = await mountGrid();
    const colors = () => {
      const { x, y } = middleOf(app, 2, 2);
      return pixel(canvasOf(app), x - 24, y).slice(0, 3);
    };
    const rgb = (share: number) =>
      [1, 3, 5].map((at) =>
        Number.parseInt(cellColor(share, palette(false)).slice(at, at + 2), 16),
      );
    await expect.poll(colors).toEqual(rgb(1));
    focus(grid);
    await userEvent.keyboard("n");
    await expect.poll(colors).toEqual(rgb(0.02));
    await expect
      .element(page.getByRole("button", { name: "Null: permuted positions" }))
      .toHaveAttribute("aria-pressed", "true");
  });
});

describe("heads", () => {
  test("one grid of several is chosen, and a head opened alone", async () => {
    const { state } = await mountGrid([POSITIONS, HEADS]);
    await userEvent.selectOptions(page.getByRole("combobox", { name: "Grid" }), "1");
    expect(state.shown_grid.value).toBe(1);
    await expect.poll(status).toContain("Layer 1, head 0  restored −1.00");
    focus(grid);
    await userEvent.keyboard("{ArrowDown}{End}");
    await expect.poll(status).toContain("Layer 2, head 9  restored no value");
    await userEvent.keyboard("{Enter}{Enter}");
    expect([state.view.value, state.layer.value, state.head.value]).toEqual(["head", 2, 9]);
    expect(state.heads.value).toEqual([9]);
  });
});

describe("numbers", () => {
  test("the table has a row for each cell", () => {
    const [of] = readManifest(withGrids(POSITIONS).manifest).grids;
    const rows = gridCells(of).table.rows();
    expect(rows[0]).toEqual(["layer", "position", "token", "restored", "null"]);
    expect(rows[1 + LABELS.length + 2]).toEqual(["1", 2, LABELS[2], 0.5, 0.02]);
    expect(rows.length).toBe(1 + 3 * LABELS.length);
  });

  test("numbers outside of 95% of the null stand out", () => {
    const cells = gridCells(readManifest(withGrids(POSITIONS).manifest).grids[0]);
    expect([-0.01, 0.02, 0.5, null].map(cells.isOutside)).toEqual([true, false, true, false]);
  });

  test.for([
    ["values", [[0]]],
    ["axes", ["layer", "?"]],
    ["stack", "other"],
    ["null", { label: "x", values: [[1]] }],
  ] as const)("a damaged grid is refused by its %s", ([name, value]) => {
    const damaged = withGrids({ ...POSITIONS, [name]: value });
    expect(() => readManifest(damaged.manifest)).toThrow(/damaged: its manifest.*grids\[0\]/);
  });
});
