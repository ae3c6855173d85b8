/** The model view shows every head's thumbnail, and leads to the head. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { type Metric, metricValue } from "../../../src/data/manifest.ts";
import { palette, rgb } from "../../../src/styles/palette.ts";
import { patternColor, patternOf } from "../../../src/views/shared/all-heads/words.ts";
import { storeOf } from "../../support/choices.ts";
import { eventually } from "../../support/eventually.ts";
import { focus, parts } from "../../support/locators.ts";
import { type App, find, mountModel, pixel } from "../../support/mounted.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { OVERVIEW, RECORD } from "../../support/vectors.ts";

expectNoProblems();

const { cell, grid, status, list, tab, swatches } = parts();

const canvasOf = (app: App) => find<HTMLCanvasElement>(app, ".thumbnails canvas");

describe("the picture", () => {
  test.for([
    { name: "nine tokens", record: RECORD, stack: "self", at: 0 },
    { name: "32 of 37 tokens", record: OVERVIEW, stack: "encoder", at: 0 },
    { name: "unlike sides", record: OVERVIEW, stack: "cross", at: 1 },
  ])("has the levels of every thumbnail in its cell: $name", async ({ record, stack, at }) => {
    const app = await mountModel({ record, choices: { stack } });
    const { info } = app.store.stack(stack);
    const [rows, columns] = [info.queries, info.keys].map(({ labels }) =>
      Math.min(32, labels.length),
    );
    const paper = rgb(palette(false).paper);
    const check = () =>
      record.levels[at].forEach((heads, index) => {
        const layer = info.layers[index];
        const canvas = canvasOf(app);
        const origin = canvas.getBoundingClientRect();
        heads.forEach((levels, head) => {
          const box = cell(layer.number, head).element().getBoundingClientRect();
          const ink = rgb(
            patternColor(patternOf(app.store.manifest.patterns, { layer, head }), palette(false)),
          );
          // Some cells from all over; corners are rounded.
          for (let n = columns + 1; n < levels.length - columns; n += 5) {
            const [row, column] = [Math.floor(n / columns), n % columns];
            const color = pixel(
              canvas,
              box.left - origin.left + ((column + 0.5) * box.width) / columns,
              box.top - origin.top + ((row + 0.5) * box.height) / rows,
            );
            const share = Number.parseInt(levels[n], 16) / 15;
            for (const part of [0, 1, 2]) {
              const expected = paper[part] + share * (ink[part] - paper[part]);
              expect(Math.abs(color[part] - expected)).toBeLessThanOrEqual(2);
            }
          }
        });
      });
    // Layers may be painted one frame after the other.
    await eventually(check);
  });

  test("has the shape of the matrix, as far as it can be seen", async () => {
    const app = await mountModel({ record: OVERVIEW, choices: { stack: "cross" } });
    const shape = () => {
      const { width, height } = cell(7, 1).element().getBoundingClientRect();
      return width / height;
    };
    expect(shape()).toBeCloseTo(5 / 3, 1);
    app.state.stack.value = "encoder";
    const { width, height } = cell(1, 2).element().getBoundingClientRect();
    expect(width / height).toBeCloseTo(1, 1);
  });

  test("is square where it shows lines, which have no cells", async () => {
    await mountModel({ record: OVERVIEW, choices: { stack: "cross", thumbnails: "lines" } });
    const { width, height } = cell(7, 1).element().getBoundingClientRect();
    expect(height).toBe(width);
  });

  test("needs no layer from the kernel", async () => {
    const asked: number[] = [];
    const source = {
      block(_: string, layer: number) {
        asked.push(layer);
        return new Promise<never>(() => {});
      },
    };
    await mountModel({ source });
    expect(asked).toEqual([]);
  });

  test("fits its width", async () => {
    const app = await mountModel();
    const body = find(app, ".body");
    expect(body.scrollWidth).toBeLessThanOrEqual(body.clientWidth);
    expect(cell(0, 0).element().getBoundingClientRect().width).toBeGreaterThan(60);
  });

  test("scrolls where heads would become too small, and the page stays as it is", async () => {
    const app = await mountModel({ width: 260 });
    expect(cell(0, 0).element().getBoundingClientRect().width).toBeGreaterThanOrEqual(32);
    expect(app.root.getBoundingClientRect().width).toBeLessThanOrEqual(260);
    const body = find(app, ".body");
    expect(body.scrollWidth).toBeGreaterThan(body.clientWidth);
  });
});

/** A distance as the view writes it. */
function directed(distance: number): string {
  const digits = distance.toFixed(1).replace("-", "\u2212");
  return `${digits} tokens (to the ${distance < 0 ? "left" : "right"})`;
}

describe("the status line", () => {
  const { metrics, stacks } = storeOf().manifest;

  function expected(layer: number, head: number): string[] {
    const value = (name: string) => {
      const metric = metrics.find((metric) => metric.name === name) as Metric;
      return metricValue(metric, { layer: stacks[0].layers[layer], head }) as number;
    };
    return [
      `Layer ${layer} · Head ${head} `,
      `entropy ${value("entropy").toFixed(2)} nats`,
      `distance ${directed(value("distance"))}`,
      // Layer 2 sees no later tokens.
      ...["previous", "same", ...(layer === 2 ? [] : ["next"]), "first"].map(
        (name) => `share on ${name} token ${value(name).toFixed(3)}`,
      ),
      `share on special tokens ${value("special").toFixed(3)}`,
    ];
  }

  test("has the metrics of the head under the pointer, else of the selected one", async () => {
    await mountModel({ choices: { layer: 1, head: 1 } });
    for (const part of expected(1, 1)) expect(status()).toContain(part);
    await userEvent.hover(cell(2, 9));
    for (const part of expected(2, 9)) expect(status()).toContain(part);
    await userEvent.hover(tab("Head"));
    for (const part of expected(1, 1)) expect(status()).toContain(part);
  });

  test("counts the kinds of heads, which add up to all", async () => {
    const app = await mountModel();
    const about = find(app, ".about").textContent?.split("layer 1")[0] ?? "";
    const total = [...about.matchAll(/(\d+)\s[a-z]/g)].reduce((sum, [, n]) => sum + Number(n), 0);
    expect(total).toBe(16);
  });
});

describe("the pointer", () => {
  test.for([1100, 760])("over a head enlarges it, inside of a view of %i px", async (width) => {
    const app = await mountModel({ width });
    const preview = find(app, ".preview");
    const body = find(app, ".body").getBoundingClientRect();
    expect(preview.hidden).toBe(true);
    for (const [layer, head] of [
      [0, 0],
      [2, 9],
      [0, 3],
    ]) {
      await userEvent.hover(cell(layer, head));
      await expect.element(page.elementLocator(preview)).toBeVisible();
      expect(preview.textContent).toContain(`Layer ${layer} · Head ${head}`);
      const [box, own] = [preview, cell(layer, head).element()].map((e) =>
        e.getBoundingClientRect(),
      );
      expect(box.left).toBeGreaterThanOrEqual(body.left);
      expect(box.right).toBeLessThanOrEqual(body.right);
      // Beside the head, not on it.
      expect(box.left >= own.right || box.right <= own.left).toBe(true);
    }
    await userEvent.hover(tab("Head"));
    expect(preview.hidden).toBe(true);
  });

  test("over a head that scrolls away enlarges it no more", async () => {
    const app = await mountModel();
    const preview = find(app, ".preview");
    await userEvent.hover(cell(2, 9));
    await expect.element(page.elementLocator(preview)).toBeVisible();
    cell(2, 9)
      .element()
      .dispatchEvent(new WheelEvent("wheel", { deltaY: 100, bubbles: true }));
    expect(preview.hidden).toBe(true);
  });

  test("enlarges nothing where there is no room: the status line tells the numbers", async () => {
    const app = await mountModel({ width: 600 });
    await userEvent.hover(cell(2, 9));
    expect(status()).toContain("Layer 2 · Head 9");
    expect(find(app, ".preview").hidden).toBe(true);
  });

  test("tells the numbers of the head with its picture, of which later tokens have none here", async () => {
    const app = await mountModel();
    await userEvent.hover(cell(2, 9));
    const { metrics } = app.store.manifest;
    const head = { layer: app.store.stack("self").info.layers[2], head: 9 };
    const value = (name: string) =>
      metricValue(metrics.find((metric) => metric.name === name) as Metric, head) as number;
    const share = Math.floor(100 * value("special"));
    expect(find(app, ".preview .title").textContent).toBe(
      `Layer 2 · Head 9mixed: ${share}% on special tokens`,
    );
    const rows = [...find(app, ".preview").querySelectorAll(".metrics div")].map((row) =>
      [...row.children].map(({ textContent }) => textContent),
    );
    expect(rows).toEqual([
      ["entropy", `${value("entropy").toFixed(2)} nats`],
      ["distance", directed(value("distance"))],
      ...["previous", "same", "first"].map((name) => [
        `share on ${name} token`,
        value(name).toFixed(3),
      ]),
      ["share on special tokens", value("special").toFixed(3)],
    ]);
  });

  test("selects a head by click, and goes to it by double click", async () => {
    const { state } = await mountModel();
    await userEvent.click(cell(2, 6));
    expect([state.layer.value, state.head.value, state.view.value]).toEqual([2, 6, "model"]);
    await userEvent.dblClick(cell(0, 3));
    expect([state.layer.value, state.head.value, state.view.value]).toEqual([0, 3, "head"]);
    await expect.element(list("Queries")).toBeVisible();
  });
});

describe("the keyboard", () => {
  const at = ({ state }: App) => [state.layer.value, state.head.value];

  test("walks through heads and layers, and stays at the edges", async () => {
    const app = await mountModel();
    focus(grid);
    for (const [key, place] of [
      ["{ArrowRight}", [0, 1]],
      ["{ArrowDown}", [1, 1]],
      ["{ArrowRight}", [1, 1]],
      ["{ArrowDown}", [2, 1]],
      ["{ArrowDown}", [2, 1]],
      ["{ArrowLeft}", [2, 0]],
      ["{ArrowLeft}", [2, 0]],
      ["{ArrowUp}", [1, 0]],
    ] as const) {
      await userEvent.keyboard(key);
      expect(at(app)).toEqual(place);
    }
    await expect.element(cell(1, 0)).toHaveAttribute("aria-selected", "true");
  });

  test("enlarges the head that it is on, until Escape or until it goes elsewhere", async () => {
    const app = await mountModel();
    const preview = find(app, ".preview");
    focus(grid);
    expect(preview.hidden).toBe(true);
    await userEvent.keyboard("{ArrowRight}");
    expect(preview.hidden).toBe(false);
    expect(preview.textContent).toContain("Layer 0 · Head 1");
    await userEvent.keyboard("{ArrowDown}");
    expect(preview.textContent).toContain("Layer 1 · Head 1");
    await userEvent.keyboard("{Escape}");
    expect(preview.hidden).toBe(true);
    await userEvent.keyboard("{ArrowDown}");
    expect(preview.hidden).toBe(false);
    focus(tab("Model"));
    expect(preview.hidden).toBe(true);
  });

  test("takes the last head of a layer that has fewer", async () => {
    const app = await mountModel({ choices: { layer: 2, head: 9 } });
    focus(grid);
    await userEvent.keyboard("{ArrowUp}");
    expect(at(app)).toEqual([1, 1]);
    expect(status()).toContain("Layer 1 · Head 1 ");
  });

  test("goes to the ends of a row", async () => {
    const app = await mountModel({ choices: { layer: 2, head: 4 } });
    focus(grid);
    await userEvent.keyboard("{End}");
    expect(at(app)).toEqual([2, 9]);
    await userEvent.keyboard("{Home}");
    expect(at(app)).toEqual([2, 0]);
  });

  test("goes to the head view with Enter", async () => {
    const app = await mountModel({ choices: { layer: 0, head: 2 } });
    focus(grid);
    await userEvent.keyboard("{Enter}");
    expect(app.state.view.value).toBe("head");
    await expect.element(list("Queries")).toBeVisible();
  });
});

test.for([
  { how: "a double click", go: () => userEvent.dblClick(cell(0, 1)) },
  {
    how: "Enter",
    async go() {
      focus(grid);
      await userEvent.keyboard("{ArrowUp}{ArrowUp}{Home}{ArrowRight}{Enter}");
    },
  },
])("$how draws the head alone, whatever was drawn before", async ({ go }) => {
  const app = await mountModel({ choices: { layer: 2, head: 8, heads: [8, 9] } });
  await go();
  expect(app.state.view.value).toBe("head");
  const pressed = () => swatches.elements().map((button) => button.getAttribute("aria-pressed"));
  await expect.poll(pressed).toEqual(["false", "true", "false", "false"]);
});

describe("layers of other numbers and heads", () => {
  const mountCross = (choices = {}) =>
    mountModel({ record: OVERVIEW, choices: { stack: "cross", ...choices } });

  test("are named by the model's number, with a mark where one is not confirmed", async () => {
    await mountCross();
    const names = page.getByRole("rowheader").elements();
    expect(names.map((name) => name.textContent)).toEqual(["3 ⚠", "7"]);
    expect(names[0].getAttribute("title")).toBe("Layer 3: not confirmed against the model");
    const cells = page.getByRole("gridcell").elements();
    expect(cells.map((cell) => cell.getAttribute("aria-label"))).toEqual([
      "Layer 3, head 0",
      "Layer 7, head 0",
      "Layer 7, head 1",
    ]);
  });

  test("are walked through by what is there", async () => {
    const { state } = await mountCross({ layer: 7, head: 1 });
    focus(grid);
    await userEvent.keyboard("{ArrowUp}");
    expect([state.layer.value, state.head.value]).toEqual([3, 0]);
    await userEvent.keyboard("{ArrowDown}{ArrowRight}");
    expect([state.layer.value, state.head.value]).toEqual([7, 1]);
    expect(status()).toContain("Layer 7 · Head 1 ");
  });

  test("are opened by their number", async () => {
    const { state } = await mountCross();
    await userEvent.dblClick(cell(7, 1));
    expect([state.layer.value, state.head.value, state.view.value]).toEqual([7, 1, "head"]);
    await expect.poll(status).toContain("Point at a token");
    await userEvent.keyboard("{Escape}");
  });

  test("do not say what is next to what, where the keys are another text", async () => {
    await mountCross();
    expect(status()).toContain("first ");
    expect(status()).not.toContain("next");
  });

  test("follow the stack, whatever was enlarged in the one before", async () => {
    const app = await mountModel({ record: OVERVIEW, choices: { layer: 1, head: 2 } });
    await userEvent.hover(cell(1, 2));
    app.state.stack.value = "cross";
    await expect.element(cell(7, 1)).toBeInTheDocument();
    expect(find(app, ".preview").hidden).toBe(true);
    expect(status()).toContain("Layer 3 · Head 0 ");
    await expect.element(cell(3, 0)).toHaveAttribute("aria-selected", "true");
  });
});
