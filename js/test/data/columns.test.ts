/** Columns need what every row divides by: it is found out without holding up the page. */

import { effect } from "@preact/signals-core";
import { expect, onTestFinished, test } from "vitest";
import { combinedMatrix } from "../../src/data/attention-matrix.ts";
import { compiled } from "../../src/kernels/compiled.ts";
import { eventually } from "../support/eventually.ts";
import { noisyLayer } from "../support/layers.ts";
import { headMatrix } from "../support/lenses.ts";
import { twoFrames } from "../support/place.ts";

await compiled();

const TOKENS = 240;
/** So much work that it is not done at once. */
const heavy = () => noisyLayer(TOKENS, 2, 256);
const columnOf = (layer: ReturnType<typeof heavy>, head: number, key: number) =>
  Array.from({ length: TOKENS }, (_, query) => layer.weightRow(head, query)[key]);

/** Each answer that a matrix gives, as it changes. */
function answers(ask: () => boolean): boolean[] {
  const given: boolean[] = [];
  onTestFinished(effect(() => void given.push(ask())));
  return given;
}

test("of few tokens are there at once", () => {
  const layer = noisyLayer(12);
  expect(layer.hasColumns(1)).toBe(true);
  expect([...layer.weightColumn(1, 3)]).toEqual(
    Array.from({ length: 12 }, (_, query) => layer.weightRow(1, query)[3]),
  );
});

test("of many come after a while, and whoever asked is told", async () => {
  const layer = heavy();
  const given = answers(() => layer.hasColumns(1));
  expect(given).toEqual([false]);
  await eventually(() => expect(given).toEqual([false, true]));
  expect([...layer.weightColumn(1, 100)]).toEqual(columnOf(heavy(), 1, 100));
});

test("of several heads are there when those of each are", async () => {
  const layer = heavy();
  const matrix = combinedMatrix("", [headMatrix(layer, 0), headMatrix(layer, 1)], "mean");
  const given = answers(() => matrix.hasColumns());
  await eventually(() => expect(given.at(-1)).toBe(true));
  expect(layer.hasColumns(0) && layer.hasColumns(1)).toBe(true);
});

test("of several heads are worked on one after the other, and only while someone waits", async () => {
  const tokens = 12 * TOKENS;
  const layer = noisyLayer(tokens, 2, 256);
  const known = (head: number) =>
    layer.normalized(head)?.factors.reduce((count, factor) => count + Number(factor !== 0), 0) ?? 0;
  const wait = () => effect(() => void [layer.hasColumns(0), layer.hasColumns(1)]);
  const end = wait();
  while (known(0) === 0) await twoFrames();
  end();
  const before = known(0);
  expect(before).toBeLessThan(tokens);
  await twoFrames();
  expect([known(0), known(1)]).toEqual([before, 0]);
  onTestFinished(wait());
  await eventually(() => expect(known(1)).toBeGreaterThan(0));
  expect(known(0)).toBe(tokens);
  await eventually(() => expect(layer.hasColumns(1)).toBe(true));
});

test("are there when all rows have been asked for", () => {
  const layer = heavy();
  columnOf(layer, 0, 0);
  expect(layer.hasColumns(0)).toBe(true);
});

test("are right also when nobody asked whether they are there", () => {
  const layer = heavy();
  expect([...layer.weightColumn(0, 7)]).toEqual(columnOf(layer, 0, 7));
});

test("can be learnt from a copy, as far as it knows", () => {
  const [layer, copy] = [heavy(), heavy()];
  columnOf(copy, 0, 0);
  const given = answers(() => layer.hasColumns(0));
  layer.learn(0, copy.normalized(0)!);
  expect(given).toEqual([false, true]);
  expect([...layer.weightColumn(0, 50)]).toEqual([...copy.weightColumn(0, 50)]);
});

test("muted components are nothing that columns know of", () => {
  const layer = heavy();
  const expected = columnOf(heavy(), 0, 3);
  for (let query = 0; query < TOKENS; query++) layer.weightRow(0, query, [0, 1, 2]);
  expect(layer.hasColumns(0)).toBe(false);
  expect([...layer.weightColumn(0, 3)]).toEqual(expected);
});
