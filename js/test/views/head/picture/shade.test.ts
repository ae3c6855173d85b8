/** Shades and numbers of weights on a picture, and the sizes of its parts. */

import { describe, expect, test } from "vitest";
import { middleOf } from "../../../../src/data/manifest.ts";
import { layoutOf } from "../../../../src/views/head/picture/layout.ts";
import { boxOf, boxOn, patchAt } from "../../../../src/views/shared/picture/places.ts";
import {
  largestOn,
  shadesOf,
  strongestOf,
  strongestPatches,
  summaryOf,
  tokensOf,
} from "../../../../src/views/shared/picture/shade.ts";

/** [CLS], a register at the end, and six patches, two of them exchanged. */
const PATCHES = { rows: 2, columns: 3, of: [null, 1, 0, 2, 3, 4, 5, null] };
const TOKENS = tokensOf(PATCHES);

describe("shades", () => {
  test("are those of the tokens on the patches, in their order", () => {
    expect([...TOKENS]).toEqual([2, 1, 3, 4, 5, 6]);
    const weights = [0.4, 0.01, 0.04, 0.16, 0, 0.09, 0.1, 0.2];
    const largest = largestOn(weights, TOKENS, [0]);
    expect(largest).toBe(0.16);
    const values = shadesOf(weights, TOKENS, largest);
    const shares = [0.04, 0.01, 0.16, 0, 0.09, 0.1].map((weight) => Math.sqrt(weight / 0.16));
    for (const [patch, value] of values.entries()) expect(value).toBeCloseTo(shares[patch], 6);
  });

  test("leave the weight of a patch on itself out of the scale", () => {
    const weights = [0, 0.9, 0.01, 0.04, 0, 0, 0, 0];
    const largest = largestOn(weights, TOKENS, [1]);
    expect(largest).toBe(0.04);
    expect([...shadesOf(weights, TOKENS, largest)]).toEqual([0.5, 1, 1, 0, 0, 0]);
  });

  test.for([
    ["nothing on the picture", [1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]],
    ["the patch itself alone", [0, 1, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]],
    ["numbers that are missing", Array(8).fill(Number.NaN), [0, 0, 0, 0, 0, 0]],
  ] as const)("of %s", ([, weights, shades]) => {
    const largest = largestOn(weights, TOKENS, [1]);
    expect([...shadesOf(weights, TOKENS, largest)]).toEqual(shades);
  });
});

test("the strongest patches are as many where other tokens are stronger", () => {
  const weights = [0.5, 0.02, 0.03, 0.2, 0.04, 0.01, 0, 0.2];
  expect(strongestPatches(weights, PATCHES, [3], 3)).toEqual([4, 2, 1]);
});

test("the strongest come first, and none without weight", () => {
  expect(strongestOf([0, 0.2, 0.7, 0.1], 2)).toEqual([2, 1]);
  expect(strongestOf([0, 0.2, 0, 0], 3)).toEqual([1]);
});

test("a patch without a token has no weight, and is not the middle", () => {
  const grid = { rows: 3, columns: 3, of: [null, 0, 3, 8] };
  expect([...tokensOf(grid)]).toEqual([1, -1, -1, 2, -1, -1, -1, -1, 3]);
  expect(shadesOf([0, 1, 1, 1], tokensOf(grid), 1)[4]).toBe(0);
  expect(middleOf(grid)).toBe(2);
  expect(middleOf({ ...grid, of: [null] })).toBe(-1);
});

describe("the numbers of a query", () => {
  test("in the corner", () => {
    // Half on itself, a quarter on its neighbour below, a quarter two columns to its right.
    const weights = [0, 0, 0.5, 0.25, 0.25, 0, 0, 0];
    const { entropy, distance, around, most } = summaryOf(weights, PATCHES, 0);
    expect(entropy).toBeCloseTo(1.5 * Math.log(2), 6);
    expect(distance).toBeCloseTo(0.25 * 1 + 0.25 * 2, 6);
    expect(around).toBeCloseTo(0.75, 6);
    expect(most).toBe(3);
  });

  test("without a patch have no distance", () => {
    const { distance, around, most } = summaryOf([0.95, 0, 0.05, 0, 0, 0, 0, 0], PATCHES, null);
    expect([distance, around, most]).toEqual([null, null, 1]);
  });
});

describe("the layout", () => {
  test.for([240, 360, 560, 900, 1120, 1560])("fits into %i pixels", (width) => {
    const { query, key, list, wide } = layoutOf(width, 1, 12);
    expect(query.width + key.width + (wide ? list : 0)).toBeLessThan(width);
    expect(query.width).toBeLessThan(key.width);
  });

  test("keeps the shape of the image, and a tall one low", () => {
    const { key, map } = layoutOf(1120, 1 / 4, 12);
    expect(key).toEqual({ width: 130, height: 520 });
    expect(map.height).toBe(4 * map.width);
  });

  test("finds the patch that is painted at a point", () => {
    const size = { width: 100, height: 60 };
    for (let patch = 0; patch < 6; patch++) {
      const { left, top, width, height } = boxOf(patch, PATCHES, size);
      expect(patchAt(left + 1, top + 1, PATCHES, size)).toBe(patch);
      expect(patchAt(left + width - 1, top + height - 1, PATCHES, size)).toBe(patch);
    }
    expect(patchAt(-5, 400, PATCHES, size)).toBe(3);
  });

  test("a box is where it is on the part of the image that is shown", () => {
    const size = { width: 100, height: 60 };
    const box = boxOn([0.5, 0.25, 0.75, 1], [0.25, 0, 0.75, 1], size);
    expect(box).toEqual({ left: 50, top: 15, width: 50, height: 45 });
  });
});
