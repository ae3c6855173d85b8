/** Ranking of the terms of q · k. */

import { describe, expect, test } from "vitest";
import {
  contributions,
  dot,
  fewest,
  largestFirst,
  magnitudes,
  partnerOf,
  products,
  without,
} from "../../src/data/neurons.ts";

const vector = (...values: number[]) => Float32Array.from(values);

test("a dot product is the sum of its terms", () => {
  const [q, k] = [vector(1, -2, 0.5), vector(4, 3, 8)];
  expect([...products(q, k)]).toEqual([4, -6, 4]);
  expect(dot(q, k)).toBe(2);
});

test("without a component, its term is missing from the sum", () => {
  const [q, k] = [vector(1, -2, 0.5), vector(4, 3, 8)];
  expect(dot(without(q, [1]), k)).toBe(8);
  expect(dot(without(q, [0, 1, 2]), k)).toBe(0);
  // The vector itself is the layer's.
  expect([...q]).toEqual([1, -2, 0.5]);
});

test("magnitudes are summed over keys without their signs", () => {
  const keys = [vector(1, 1, 1), vector(-1, 2, 0)];
  expect([...magnitudes(vector(3, -1, 2), keys)]).toEqual([6, 3, 2]);
});

test("the largest comes first, and equal ones stay in order", () => {
  expect(largestFirst([2, 5, 2, 7])).toEqual([3, 1, 0, 2]);
});

test("contributions add up to the difference to the mean of the others", () => {
  const [q, key] = [vector(1, -2, 0.5), vector(4, 3, 8)];
  const others = [vector(1, 0, 0), vector(-3, 2, 4)];
  const of = contributions(
    0.5,
    q,
    key,
    [0, 1, 2].map((n) => others.reduce((sum, k) => sum + k[n], 0) / others.length),
  );
  const mean = others.reduce((sum, k) => sum + dot(q, k), 0) / others.length;
  const sum = of.reduce((total, value) => total + value, 0);
  expect(sum).toBeCloseTo(0.5 * (dot(q, key) - mean), 12);
  expect(of[0]).toBe(0.5 * 1 * (4 - -1));
});

describe("the fewest components that make 80% of a difference", () => {
  /** The size of the smallest of all subsets that reach the share. */
  function smallest(of: readonly number[], share: number): number {
    const difference = of.reduce((sum, value) => sum + value, 0);
    let least = of.length;
    for (let subset = 0; subset < 2 ** of.length; subset++) {
      const taken = of.filter((_, n) => subset & (1 << n));
      const sum = taken.reduce((total, value) => total + value, 0) * Math.sign(difference);
      if (sum >= share * Math.abs(difference)) least = Math.min(least, taken.length);
    }
    return least;
  }

  // Quarters, whose sums are exact.
  const random = (seed: number) => () => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return Math.round((seed / 2 ** 31 - 0.45) * 40) / 4;
  };

  test.for(Array.from({ length: 20 }, (_, seed) => seed))("as brute force finds, %i", (seed) => {
    const next = random(seed + 1);
    const of = Array.from({ length: 9 }, next);
    const taken = fewest(Float64Array.from(of), 0.8);
    expect(taken.length).toBe(smallest(of, 0.8));
    const difference = of.reduce((sum, value) => sum + value, 0);
    const sum = taken.reduce((total, n) => total + of[n], 0);
    expect(sum * Math.sign(difference)).toBeGreaterThanOrEqual(0.8 * Math.abs(difference));
  });

  test.for([
    { of: [1, 8, 1], few: [1] },
    { of: [4, 3, 3], few: [0, 1, 2] },
    // A key that stands below the others.
    { of: [-9, 2, -1], few: [0] },
    // One component alone makes more than the whole.
    { of: [5, -4, 0], few: [0] },
    { of: [0, 0], few: [] },
  ])("of $of are $few", ({ of, few }) => {
    expect(fewest(Float64Array.from(of), 0.8)).toEqual(few);
  });
});

describe("a rotary embedding turns together", () => {
  test.for([
    { pairs: "halves", dims: 8, n: 1, partner: 5 },
    { pairs: "halves", dims: 8, n: 5, partner: 1 },
    { pairs: "halves", dims: 4, n: 1, partner: 3 },
    { pairs: "halves", dims: 4, n: 4, partner: null },
    { pairs: "neighbours", dims: 8, n: 4, partner: 5 },
    { pairs: "neighbours", dims: 8, n: 5, partner: 4 },
    { pairs: "neighbours", dims: 4, n: 7, partner: null },
    { pairs: "halves", dims: 4, start: 5, n: 5, partner: 7 },
    { pairs: "halves", dims: 4, start: 5, n: 8, partner: 6 },
    { pairs: "neighbours", dims: 4, start: 5, n: 8, partner: 7 },
    { pairs: "halves", dims: 4, start: 5, n: 4, partner: null },
  ] as const)("$pairs of $dims: $n and $partner", ({ pairs, dims, n, partner, ...rest }) => {
    const start = "start" in rest ? rest.start : 0;
    expect(partnerOf({ pairs, dims, start }, n)).toBe(partner);
  });

  test("nothing where there is none", () => {
    expect(partnerOf(null, 3)).toBeNull();
  });
});
