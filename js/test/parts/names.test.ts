import { expect, test } from "vitest";
import { tokenNames } from "../../src/parts/text.ts";

const names = (...labels: string[]) => tokenNames({ labels });

test("a token that stands once is called what it is", () => {
  expect(names("the", "cat", "sat")).toEqual(["the", "cat", "sat"]);
});

test("a token that stands more than once has its position with it", () => {
  const labels = ["it", ...Array.from({ length: 10 }, (_, n) => `t${n}`), "it", "The", "the"];
  expect(names(...labels)).toEqual(["it₀", ...labels.slice(1, 11), "it₁₁", "The", "the"]);
});

test("every name is there once", () => {
  const labels = Array.from({ length: 300 }, (_, n) => ["a", "b", "", " "][n % 4]);
  expect(new Set(names(...labels)).size).toBe(300);
});
