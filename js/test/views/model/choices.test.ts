/** Thumbnails, order, colours, means and what of the model is shown. */

import { batch } from "@preact/signals-core";
import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { Metric } from "../../../src/data/manifest.ts";
import { readManifest, readMetrics } from "../../../src/data/read-manifest.ts";
import { tsv } from "../../../src/parts/table.ts";
import { palette, rgb } from "../../../src/styles/palette.ts";
import { meanBars } from "../../../src/views/model/summary.ts";
import { divergingRamp, ramp } from "../../../src/views/shared/all-heads/color.ts";
import { patternColor, patternOf } from "../../../src/views/shared/all-heads/words.ts";
import { stateOf, storeOf } from "../../support/choices.ts";
import { eventually } from "../../support/eventually.ts";
import { focus, parts } from "../../support/locators.ts";
import { type App, find, mountModel, pixel } from "../../support/mounted.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { OVERVIEW, RECORD } from "../../support/vectors.ts";
import { mountView } from "../../support/view.ts";

expectNoProblems();

const { cell, grid, status } = parts();
const { metrics, stacks } = storeOf().manifest;
const [{ layers }] = stacks;
const metric = (name: string) => metrics.find((each) => each.name === name) as Metric;
/** By layer, of every head. */
const valuesOf = (name: string) =>
  layers.map((layer) => metric(name).values.get(layer) as readonly number[]);

const combobox = (name: string) => page.getByRole("combobox", { name, exact: true });
const choose = (name: string, option: string) => userEvent.selectOptions(combobox(name), option);
const names = () =>
  page
    .getByRole("gridcell")
    .elements()
    .map((each) => each.getAttribute("aria-label"));
const about = (app: App) => find(app, ".about").textContent;
const canvasOf = (app: App) => find<HTMLCanvasElement>(app, ".thumbnails canvas");

/** The colour of the bar under a cell. */
function barColor(app: App, layer: number, head: number): number[] {
  const canvas = canvasOf(app);
  const [box, origin] = [cell(layer, head).element(), canvas].map((e) => e.getBoundingClientRect());
  const [x, y] = [box.left - origin.left + box.width / 2, box.bottom - origin.top + 4];
  return pixel(canvas, x, y).slice(0, 3);
}

/** "Layer 2, head 5", from the highest to the lowest value of each layer. */
const sorted = (name: string) =>
  layers.flatMap(({ number, heads }, at) =>
    Array.from({ length: heads }, (_, head) => head)
      .sort((a, b) => valuesOf(name)[at][b] - valuesOf(name)[at][a] || a - b)
      .map((head) => `Layer ${number}, head ${head}`),
  );

describe("lines", () => {
  test("go from every query on the left to its strongest key on the right", async () => {
    const app = await mountModel();
    await choose("Show", "Lines");
    expect(app.state.thumbnails.value).toBe("lines");
    const paper = rgb(palette(false).paper);
    await eventually(() =>
      layers.forEach((layer, row) => {
        const canvas = canvasOf(app);
        const box = cell(layer.number, 0).element().getBoundingClientRect();
        const origin = canvas.getBoundingClientRect();
        const left = box.left - origin.left;
        const { rows, columns, levels } = app.store.stack("self").thumbnail(layer.number, 0);
        const ink = rgb(
          patternColor(
            patternOf(app.store.manifest.patterns, {
              layer: app.store.stack("self").info.layers[row],
              head: 0,
            }),
            palette(false),
          ),
        );
        for (let query = 1; query < rows - 1; query++) {
          const own = [...levels.slice(query * columns, (query + 1) * columns)];
          const best = own.indexOf(Math.max(...own));
          for (const [x, y] of [
            [left + 3, (query + 0.5) / rows],
            [left + box.width - 3, (best + 0.5) / columns],
          ]) {
            const color = pixel(canvas, x, box.top - origin.top + y * box.height);
            const away = Math.abs(color[0] - paper[0]) / Math.abs(ink[0] - paper[0]);
            expect(away).toBeGreaterThan(0.05);
          }
        }
      }),
    );
  });
});

describe("the order of heads", () => {
  test.for([
    { option: "Entropy", name: "entropy" },
    { option: "Distance", name: "distance" },
    { option: "Share on special tokens", name: "special" },
  ])("$option: from the highest to the lowest", async ({ option, name: measure }) => {
    const app = await mountModel();
    await choose("Sort heads", option);
    expect(app.state.sort.value).toBe(measure);
    expect(names()).toEqual(sorted(measure));
    const numbers = page
      .getByRole("gridcell")
      .elements()
      .map(({ textContent }) => textContent);
    expect(numbers).toEqual(sorted(measure).map((name) => name.split("head ")[1]));
    await choose("Sort heads", "As in model");
    expect(names()[1]).toBe("Layer 0, head 1");
    expect(cell(0, 1).element().textContent).toBe("");
  });

  test("is by the weight of the locked pair, once there is one", async () => {
    const app = await mountModel();
    const asInModel = names();
    await choose("Sort heads", "Weight of locked pair");
    expect(names()).toEqual(asInModel);
    expect(about(app)).toContain("lock two tokens: click one, Shift+click the other");
    batch(() => {
      app.state.query.value = 4;
      app.state.key.value = 2;
    });
    const weight = (at: number, head: number) => Number(RECORD.weights[at][head * 81 + 4 * 9 + 2]);
    const expected = layers.flatMap(({ number, heads }, at) =>
      Array.from({ length: heads }, (_, head) => head)
        .sort((a, b) => weight(at, b) - weight(at, a) || a - b)
        .map((head) => `Layer ${number}, head ${head}`),
    );
    await eventually(() => expect(names()).toEqual(expected));
    expect(about(app)).toMatch(/sorted by the weight \S+ → \S+/);
  });

  test("is the one in which arrows move", async () => {
    const app = await mountModel({ choices: { sort: "entropy", layer: 2, head: 0 } });
    const order = sorted("entropy").slice(6);
    focus(grid);
    await userEvent.keyboard("{Home}");
    for (const name of order) {
      expect(`Layer ${app.state.layer.value}, head ${app.state.head.value}`).toBe(name);
      await userEvent.keyboard("{ArrowRight}");
    }
  });

  test("leaves out what has no meaning where the keys are another text", async () => {
    const app = await mountModel({
      record: OVERVIEW,
      choices: { stack: "cross", sort: "previous", color: "distance" },
    });
    for (const [name, first] of [
      ["Sort heads", "As in model"],
      ["Colour by", "Pattern"],
    ]) {
      const options = combobox(name).getByRole("option").elements();
      const labels = options.map(({ textContent }) => textContent);
      expect(labels[0]).toBe(first);
      expect(labels.slice(-3)).toEqual([
        "Entropy",
        "Share on first token",
        "Share on special tokens",
      ]);
      expect((options[0] as HTMLOptionElement).selected).toBe(true);
    }
    expect(names()[1]).toBe("Layer 7, head 0");
    app.state.stack.value = "encoder";
    await expect.element(combobox("Sort heads")).toHaveValue("previous");
  });
});

describe("colours", () => {
  test("are a ramp from the lowest to the highest number, which the legend names", async () => {
    const app = await mountModel();
    await choose("Colour by", "Share on special tokens");
    const all = valuesOf("special").flat();
    const [lowest, highest] = [Math.min(...all), Math.max(...all)];
    expect(about(app)).toMatch(
      new RegExp(`^share on special tokens ${lowest.toFixed(3)} ■+ ${highest.toFixed(3)}`),
    );
    await eventually(() => {
      for (const [layer, values] of valuesOf("special").entries()) {
        values.forEach((value, head) => {
          const expected = rgb(ramp((value - lowest) / (highest - lowest), palette(false)));
          barColor(app, layer, head).forEach((part, n) => {
            expect(Math.abs(part - expected[n])).toBeLessThanOrEqual(2);
          });
        });
      }
    });
  });

  test("are of the weight of the locked pair", async () => {
    const app = await mountModel({ choices: { color: "pair", query: 4, key: 2 } });
    const all = layers.map(({ heads }, at) =>
      Array.from({ length: heads }, (_, head) => Number(RECORD.weights[at][head * 81 + 4 * 9 + 2])),
    );
    const [lowest, highest] = [Math.min(...all.flat()), Math.max(...all.flat())];
    await eventually(() => {
      const [value] = all[1];
      const expected = rgb(ramp((value - lowest) / (highest - lowest), palette(false)));
      barColor(app, 1, 0).forEach((part, n) => {
        expect(Math.abs(part - expected[n])).toBeLessThanOrEqual(2);
      });
    });
  });

  test("are one per layer", async () => {
    const app = await mountModel();
    await choose("Colour by", "Layer");
    expect(about(app)).toMatch(/^layer 0 ■■■ 2/);
    await eventually(() => {
      const colors = layers.map(({ heads }, layer) =>
        Array.from({ length: heads }, (_, head) => `${barColor(app, layer, head)}`),
      );
      for (const ofLayer of colors) expect(new Set(ofLayer).size).toBe(1);
      expect(new Set(colors.flat()).size).toBe(3);
    });
  });

  test.for(["same", "first", "entropy"] as const)(
    "never say alone what they say: %s",
    async (measure) => {
      await mountModel({ choices: { color: measure, layer: 1, head: 1 } });
      const value = valuesOf(measure)[1][1].toFixed(measure === "entropy" ? 2 : 3);
      expect(cell(1, 1).element().getAttribute("aria-description")).toContain(value);
      expect(status()).toContain(value);
    },
  );
});

describe("a metric of the user's own", () => {
  const own = {
    name: "my score",
    label: "my score",
    unit: "",
    digits: 2,
    signed: true,
    directions: null,
    description: "",
    values: { self: layers.map(({ heads }, at) => numbers(heads, at)) },
  };

  /** From negative to positive; the second head of every layer has none. */
  function numbers(heads: number, at: number): (number | null)[] {
    return Array.from({ length: heads }, (_, head) => (head === 1 ? null : head + at - 2.5));
  }

  test("sorts and colours heads like any other, around zero", async () => {
    const app = await mountModel();
    const options = () => combobox("Sort heads").getByRole("option").elements();
    expect(options().length).toBe(metrics.length + 2);
    app.state.ownMetrics.value = readMetrics([own], app.store.manifest);
    expect(options().at(-1)?.textContent).toBe("My score");
    await choose("Colour by", "My score");
    await choose("Sort heads", "My score");
    expect([app.state.color.value, app.state.sort.value]).toEqual(["my score", "my score"]);
    // Heads without a value come last.
    expect(names().slice(0, 4)).toEqual([3, 2, 0, 1].map((head) => `Layer 0, head ${head}`));
    const colors = palette(false);
    expect(about(app)).toMatch(/^my score \u22128\.50 ■+ 8\.50 {3}■ no value/);
    expect(cell(0, 1).element().getAttribute("aria-description")).toContain("my score no value");
    await eventually(() => {
      for (const [layer, head, color] of [
        [0, 0, divergingRamp((-2.5 / 8.5 + 1) / 2, colors)],
        [2, 9, divergingRamp(1, colors)],
        [0, 1, colors.border],
      ] as const) {
        const expected = rgb(color);
        barColor(app, layer, head).forEach((part, n) => {
          expect(Math.abs(part - expected[n])).toBeLessThanOrEqual(2);
        });
      }
    });
    // The one that the view is about comes first.
    await userEvent.hover(cell(2, 9));
    expect(status()).toMatch(/my score 8\.50 · entropy/);
    expect(find(app, ".column-names .mean-name").textContent).toBe("mean\nmy score");
    app.state.ownMetrics.value = [];
    await expect.element(combobox("Colour by")).toHaveValue("pattern");
  });

  test("does not close a menu that the reader has opened, if the options stay the same", async () => {
    const app = await mountModel();
    const option = () => combobox("Sort heads").getByRole("option").nth(1).element();
    const before = option();
    app.state.ownMetrics.value = [];
    expect(option()).toBe(before);
    app.state.ownMetrics.value = readMetrics([own], app.store.manifest);
    expect(option()).not.toBe(before);
  });

  test("is counted on the card of a head if there are too many", async () => {
    const app = await mountModel();
    const many = Array.from({ length: 20 }, (_, n) => ({ ...own, name: `${n}`, label: `no ${n}` }));
    app.state.ownMetrics.value = readMetrics(many, app.store.manifest);
    app.state.sort.value = "15";
    await userEvent.hover(cell(2, 9));
    const rows = [...app.shadow.querySelectorAll(".preview .metrics div")];
    expect(rows.length).toBe(8);
    expect(rows[0].textContent).toMatch(/^no 15/);
    // Layer 2 sees no later tokens, which are left out.
    expect(rows[7].textContent).toBe(`and ${metrics.length - 1 + 20 - 7} more`);
  });

  test("is marked as damaged where it is of another record", () => {
    const [values] = own.values.self;
    const short = { ...own, values: { self: [values] } };
    const manifest = readManifest(RECORD.manifest);
    expect(readMetrics(undefined, manifest)).toEqual([]);
    expect(readMetrics([own], manifest)[0].values.get(manifest.stacks[0].layers[0])).toEqual(
      values,
    );
    expect(() => readMetrics([short], manifest)).toThrow("metrics[0].values.self is not valid");
  });
});

describe("means", () => {
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b) / values.length;
  const described = (role: "rowheader" | "columnheader") =>
    page
      .getByRole(role)
      .elements()
      .map((each) => each.getAttribute("aria-description"));
  const ofColumn = (name: string, column: number) =>
    mean(
      valuesOf(name)
        .map((values) => values[column])
        .filter((v) => v !== undefined),
    );

  test("of the entropy stand beside every row and below every column", async () => {
    const app = await mountModel();
    const rows = valuesOf("entropy").map((values) => mean(values).toFixed(2));
    const columns = Array.from({ length: 10 }, (_, at) => ofColumn("entropy", at).toFixed(2));
    expect(described("rowheader")).toEqual(rows.map((value) => `mean entropy ${value} nats`));
    expect(described("columnheader")).toEqual(columns.map((value) => `mean entropy ${value} nats`));
    const visible = [...app.shadow.querySelectorAll(".mean")].map(({ textContent }) => textContent);
    expect(visible).toEqual([...rows, ...columns]);
    expect(find(app, ".column-names .mean-name").textContent).toBe("mean\nentropy");
  });

  test("beside the rows are left out where there is no room, but not for those who do not see", async () => {
    const app = await mountModel({ width: 600 });
    expect(app.shadow.querySelectorAll("[role=row] > .mean").length).toBe(0);
    expect(find(app, ".column-means .mean-name").textContent).toBe("mean\nentropy");
    expect(described("rowheader")[0]).toBe(
      `mean entropy ${mean(valuesOf("entropy")[0]).toFixed(2)} nats`,
    );
  });

  test("are bars alone where one of the numbers would touch its neighbour", () => {
    const said = (room: number) =>
      meanBars(metric("distance"), [0.5, -10.2], room).map(({ textContent }) => textContent);
    expect(said(60)).toEqual(["0.5", "\u221210.2"]);
    expect(said(32)).toEqual(["", ""]);
  });

  test("are of the number that colours, else of the one that sorts", async () => {
    const app = await mountModel({ choices: { sort: "first" } });
    expect(find(app, ".column-names .mean-name").textContent).toBe("mean\nfirst");
    app.state.color.value = "next";
    expect(find(app, ".column-names .mean-name").textContent).toBe("mean\nnext");
    expect(described("rowheader")[0]).toBe(
      `mean share on next token ${mean(valuesOf("next")[0]).toFixed(3)}`,
    );
  });
});

test("the corner says what rows and columns are", async () => {
  const app = await mountModel({ width: 500 });
  const directions = () =>
    [...find(app, ".directions").children].map(({ textContent }) => textContent);
  expect(directions()).toEqual(["head →", "layer ↓"]);
  const { scrollWidth, clientWidth } = find(app, ".directions");
  expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
  app.state.sort.value = "entropy";
  expect(directions()).toEqual(["layer ↓"]);
});

describe("a part of the model", () => {
  test("is shown where layers and heads are chosen", async () => {
    const app = await mountModel({ choices: { include_layers: [0, 2], include_heads: [1, 3, 8] } });
    expect(names()).toEqual([
      "Layer 0, head 1",
      "Layer 0, head 3",
      "Layer 2, head 1",
      "Layer 2, head 3",
      "Layer 2, head 8",
    ]);
    const heads = page.getByRole("columnheader").elements();
    expect(heads.map(({ textContent }) => textContent)).toEqual(["1", "3", "8"]);
    expect(about(app)).toMatch(/^\D*(\d+\s\D+)+$/);
    app.state.include_layers.value = null;
    app.state.include_heads.value = null;
    expect(names().length).toBe(16);
  });

  test("is walked through from wherever the head was", async () => {
    const app = await mountModel({ choices: { include_layers: [1, 2], layer: 0, head: 3 } });
    expect(grid.element().getAttribute("aria-activedescendant")).toBe(null);
    focus(grid);
    await userEvent.keyboard("{ArrowDown}");
    expect([app.state.layer.value, app.state.head.value]).toEqual([2, 0]);
  });
});

test("a table has every head with its pattern and all numbers", () => {
  const state = stateOf({ view: "model", sort: "entropy" });
  const view = mountView(state, storeOf(), 0);
  const [table] = view.tables.value;
  expect(table.name).toBe("Heads");
  const [head, ...rows] = tsv(table.rows())
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
  expect(head).toEqual(
    "layer head pattern entropy distance previous same next first special".split(" "),
  );
  expect(rows.map(([layer, number]) => `Layer ${layer}, head ${number}`)).toEqual(
    sorted("entropy"),
  );
  for (const [layer, number, , ...values] of rows) {
    const expected = head.slice(3).map((name) => valuesOf(name)[Number(layer)][Number(number)]);
    expect(values.map(Number)).toEqual(expected);
  }
});

test("the numbers stay in sight where there is too much to fit", async () => {
  const app = await mountModel({ width: 300 });
  const body = find(app, ".body");
  body.style.maxHeight = "200px";
  body.scrollTo(1000, 1000);
  const outer = body.getBoundingClientRect();
  const [row, column] = [
    page.getByRole("rowheader").elements().at(-1),
    page.getByRole("columnheader").elements().at(-1),
  ].map((each) => (each as Element).getBoundingClientRect());
  expect(row.left).toBeGreaterThanOrEqual(outer.left);
  expect(row.right).toBeLessThan(outer.left + 60);
  expect(column.top).toBeGreaterThanOrEqual(outer.top);
  expect(column.bottom).toBeLessThan(outer.top + 60);
});
