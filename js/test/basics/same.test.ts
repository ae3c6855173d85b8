import { effect, signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { same, steady } from "../../src/basics/same.ts";

test("lists and records are the same if all of their parts are", () => {
  expect(same([1, [2, null], { a: "b" }], [1, [2, null], { a: "b" }])).toBe(true);
  expect(same(Number.NaN, Number.NaN)).toBe(true);
  expect(same({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
});

test.for<[unknown, unknown]>([
  [[1, 2], [1]],
  [
    [[1], null],
    [[1], 0],
  ],
  [{ a: 1 }, { b: 1 }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [[], {}],
  [null, {}],
  ["1", 1],
])("%j differs from %j", ([a, b]) => {
  expect(same(a, b)).toBe(false);
  expect(same(b, a)).toBe(false);
});

test("a steady signal tells nobody of an equal value", () => {
  const source = signal<readonly number[] | null>([1, 2]);
  const own = steady(() => source.value);
  const seen: unknown[] = [];
  effect(() => {
    seen.push(own.value);
  });
  source.value = [1, 2];
  source.value = null;
  source.value = null;
  source.value = [1];
  expect(seen).toEqual([[1, 2], null, [1]]);
});
