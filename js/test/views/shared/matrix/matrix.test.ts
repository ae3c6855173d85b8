/** The matrix shows the numbers of the record, and where in it the reader is. */

import { describe, expect, test } from "vitest";
import { userEvent } from "vitest/browser";
import { luminance, mixed, palette, type RGB, rgb } from "../../../../src/styles/palette.ts";
import { eventually } from "../../../support/eventually.ts";
import { parts } from "../../../support/locators.ts";
import { type App, drawn, find, mountApp, painted, pixel } from "../../../support/mounted.ts";
import { NAMES, scoreAt, signed, weightAt } from "../../../support/numbers.ts";
import { expectNoProblems } from "../../../support/problems.ts";

expectNoProblems();

const { option, status } = parts();
const picture = (app: App) => find<HTMLCanvasElement>(app, ".stage canvas");

/** Middles of some cells, in parts of the picture; the labels are above and to the left. */
const PLACES = [
  [0.39, 0.5],
  [0.92, 0.6],
  [0.62, 0.95],
  [0.28, 0.7],
];

test.for([
  { layer: 0, head: 1 },
  { layer: 1, head: 0 },
  { layer: 2, head: 7 },
])("shows weight, score and ink of the cell under the pointer, $layer.$head", async (given) => {
  const { layer, head } = given;
  const app = await mountApp({ choices: { layer, head } });
  await drawn(app);
  const { width, height } = picture(app).getBoundingClientRect();
  const all = NAMES.flatMap((_, query) => NAMES.map((_, key) => weightAt(layer, head, query, key)));
  const largest = Math.max(...all);
  const said = largest.toFixed(3);
  expect(find(app, ".matrix .title").textContent).toContain(`shade: √weight ≤ ${said}`);
  for (const [x, y] of PLACES.map(([right, down]) => [right * width, down * height])) {
    await userEvent.hover(find(app, ".stage"), { position: { x, y } });
    const { query, key } = app.state.focus.value;
    if (query === null || key === null) throw new Error("The pointer is on no cell.");
    const [weight, score] = [weightAt(layer, head, query, key), scoreAt(layer, head, query, key)];
    const shown = weight > 0 && weight < 0.0005 ? "<0.001" : weight.toFixed(3);
    const pair = `Layer ${layer} · Head ${head}  ${NAMES[query]} → ${NAMES[key]}`;
    if (layer === 1) expect(status()).toBe(`${pair} weight ${shown}`);
    else if (score === null) expect(status()).toContain(`${pair} masked`);
    else expect(status()).toBe(`${pair} weight ${shown} · score ${signed(score)}`);
    // The square root, so that small weights can be seen, of the share of the head's largest.
    const shade = 255 * Math.sqrt(weight / largest);
    expect(Math.abs(pixel(picture(app), x, y)[3] - shade)).toBeLessThanOrEqual(1);
  }
});

test("on a dark background, shades are lighter than by opacity, up to the ink", async () => {
  const app = await mountApp({ choices: { layer: 0, head: 1, theme: "dark" } });
  await drawn(app);
  const { ink, background } = palette(true);
  const light = (color: readonly number[]) => luminance(color as unknown as RGB) + 0.05;
  const { width, height } = picture(app).getBoundingClientRect();
  const all = NAMES.flatMap((_, query) => NAMES.map((_, key) => weightAt(0, 1, query, key)));
  const lightest: number[] = [];
  for (const [x, y] of PLACES.map(([right, down]) => [right * width, down * height])) {
    await userEvent.hover(find(app, ".stage"), { position: { x, y } });
    const { query, key } = app.state.focus.value;
    if (query === null || key === null) throw new Error("The pointer is on no cell.");
    const share = weightAt(0, 1, query, key) / Math.max(...all);
    const byOpacity = rgb(mixed(background, ink, Math.sqrt(share)));
    const shade = light(pixel(picture(app), x, y));
    expect(shade / light(byOpacity)).toBeGreaterThan(1.05);
    expect(shade).toBeLessThan(light(rgb(ink)));
    lightest.push(shade / light(byOpacity));
  }
  expect(Math.max(...lightest)).toBeGreaterThan(1.2);
});

test("follows the head", async () => {
  const app = await mountApp();
  await drawn(app);
  const image = () => picture(app).toDataURL();
  const first = image();
  app.state.head.value = 1;
  expect(image()).not.toBe(first);
  app.state.head.value = 0;
  expect(image()).toBe(first);
});

test("locks a pair by click, and releases it by another", async () => {
  const app = await mountApp();
  await drawn(app);
  const stage = find(app, ".stage");
  const { width, height } = stage.getBoundingClientRect();
  await userEvent.click(stage, { position: { x: 0.62 * width, y: 0.95 * height } });
  expect([app.state.query.value, app.state.key.value]).toEqual([8, 4]);
  await userEvent.click(stage, { position: { x: 0.62 * width, y: 0.95 * height } });
  expect([app.state.query.value, app.state.key.value]).toEqual([null, null]);
});

/** Cells are this large where there is room. */
const CELL = 28;
/** The names of queries, or of keys. */
const ROOM = 76;

test("stands beside the lines, or below them where it is narrow", async () => {
  const app = await mountApp({ width: 600 });
  await drawn(app);
  const box = (selector: string) => find(app, selector).getBoundingClientRect();
  expect(box(".stage").left).toBeGreaterThan(box(".pairs").right);
  app.parent.style.width = "500px";
  await eventually(() => expect(box(".stage").top).toBeGreaterThan(box(".pairs").bottom));
  expect(box(".stage canvas").width).toBeCloseTo(ROOM + 9 * CELL + 2, 0);
  const canvas = picture(app);
  const names = canvas.getContext("2d")?.getImageData(0, ROOM, ROOM, 9 * CELL).data ?? [];
  expect(names.some((value) => value > 0)).toBe(true);
  await userEvent.hover(find(app, ".stage"), { position: { x: ROOM + 5, y: ROOM + 5 } });
  expect(app.state.hover.value).toEqual({ query: 0, key: 0 });
  await userEvent.hover(find(app, ".stage"), { position: { x: ROOM - 5, y: ROOM + 5 } });
  expect(app.state.hover.value).toBeNull();
});

describe("the cross-hair", () => {
  /** True if the upper edge of a row's frame is drawn in its middle, and a column's left edge. */
  const framed = (app: App) => {
    const overlay = find<HTMLCanvasElement>(app, ".stage canvas.overlay");
    const at = (x: number, y: number) => pixel(overlay, x, y)[3] > 0;
    const line = [...NAMES.keys()];
    return {
      rows: line.filter(
        (n) =>
          at(ROOM + 4.5 * CELL + 5, ROOM + 1 + n * CELL) &&
          at(ROOM + 1, ROOM + 1 + (n + 0.5) * CELL),
      ),
      columns: line.filter(
        (n) =>
          at(ROOM + 1 + n * CELL, ROOM + 4.5 * CELL + 5) &&
          at(ROOM + 1 + (n + 0.5) * CELL, ROOM + 1),
      ),
    };
  };

  test("is on the row of a query, the column of a key, and on both of a cell", async () => {
    const app = await mountApp();
    await drawn(app);
    expect(painted(find<HTMLCanvasElement>(app, ".stage canvas.overlay"))).toBe(0);
    await userEvent.hover(option("Queries", 3));
    expect(framed(app)).toEqual({ rows: [3], columns: [] });
    await userEvent.hover(option("Keys", 6));
    expect(framed(app)).toEqual({ rows: [], columns: [6] });
    const position = { x: ROOM + 1 + 7.5 * CELL, y: ROOM + 1 + 1.5 * CELL };
    await userEvent.hover(find(app, ".stage"), { position });
    expect(framed(app)).toEqual({ rows: [1], columns: [7] });
    await userEvent.hover(find(app, ".status"));
    expect(framed(app)).toEqual({ rows: [], columns: [] });
  });

  test("is on every row that is locked", async () => {
    const app = await mountApp({ choices: { query: 1, also: [5, 8] } });
    await drawn(app);
    expect(framed(app)).toEqual({ rows: [1, 5, 8], columns: [] });
  });
});

test("within a cell the pointer changes nothing", async () => {
  const app = await mountApp();
  await drawn(app);
  const seen: unknown[] = [];
  app.state.hover.subscribe((place) => seen.push(place));
  for (const x of [ROOM + 30, ROOM + 34, ROOM + 38]) {
    await userEvent.hover(find(app, ".stage"), { position: { x, y: ROOM + 10 } });
  }
  expect(seen).toEqual([null, { query: 0, key: 1 }]);
});
