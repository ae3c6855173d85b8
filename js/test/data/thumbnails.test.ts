/** Thumbnails of the chosen segments alone. */

import { expect, test } from "vitest";
import { cropped, sharesCells } from "../../src/data/thumbnails.ts";
import { positions } from "../support/layers.ts";

/** Each cell has the number of its row or, with `across`, of its column. */
const numbered = (side: number, across: boolean) => ({
  rows: side,
  columns: side,
  signed: false,
  levels: Int8Array.from({ length: side ** 2 }, (_, n) =>
    across ? n % side : Math.floor(n / side),
  ),
});

test("a named segment has the rows or the columns of its tokens", () => {
  const sides = { queries: positions(9), keys: positions(9) };
  const from = cropped(numbered(9, false), sides, "from:2-5");
  expect([from.rows, from.columns]).toEqual([3, 9]);
  expect([...from.levels]).toEqual([2, 3, 4].flatMap((row) => Array(9).fill(row)));
  const to = cropped(numbered(9, true), sides, "to:7-20");
  expect([to.rows, to.columns]).toEqual([9, 2]);
  expect([...to.levels.subarray(0, 2)]).toEqual([7, 8]);
  expect(cropped(numbered(9, false), sides, "from:20-30").rows).toBe(9);
});

test("cells that hold tokens of a segment and others are shown, and said to be", () => {
  // Cell n holds the tokens 2n and 2n + 1.
  const sides = { queries: positions(64), keys: positions(64) };
  const whole = numbered(32, false);
  expect([...cropped(whole, sides, "from:3-6").levels.filter((_, n) => n % 32 === 0)]).toEqual([
    1, 2,
  ]);
  expect(sharesCells(whole, sides, "from:3-6")).toBe(true);
  expect(sharesCells(whole, sides, "to:4-7")).toBe(true);
  expect(sharesCells(whole, sides, "to:4-6")).toBe(false);
  expect(sharesCells(whole, sides, "from:62-64")).toBe(false);
  expect(sharesCells(whole, sides, "ab")).toBe(false);
});
