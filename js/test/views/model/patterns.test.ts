import { expect, test } from "vitest";
import type { LayerInfo } from "../../../src/data/manifest.ts";
import { palette } from "../../../src/styles/theme.ts";
import { countPatterns, type Pattern, patternOf } from "../../../src/views/model/patterns.ts";

const tokens = { labels: ["a", "b"], segments: null, special: [], words: null };
const SELF = { name: "self", queries: tokens, keys: tokens, layers: [] };

/** A layer with one head per row: its shares on the previous, same, next, first and special token. */
function layerOf(...heads: readonly (readonly number[])[]): LayerInfo {
  const share = (at: number) => heads.map((shares) => shares[at]);
  const zero = heads.map(() => 0);
  return {
    ...{
      number: 0,
      heads: heads.length,
      key_heads: heads.length,
      dim: null,
      rotary: null,
      bytes: 0,
      program: null,
    },
    fidelity: { exact: null, module: "", tolerance: 1e-5 },
    measures: {
      ...{ entropy: zero, distance: zero },
      ...{ previous: share(0), same: share(1), next: share(2), first: share(3), special: share(4) },
    },
  };
}

test.for<[readonly number[], Pattern]>([
  [[0.9, 0.05, 0, 0, 0], "previous"],
  [[0.1, 0.6, 0.2, 0.1, 0], "same"],
  [[0.2, 0.1, 0.5, 0.1, 0.1], "next"],
  [[0, 0, 0, 0.7, 0], "first"],
  [[0, 0, 0, 0.2, 0.8], "special"],
  // [CLS] is both: special says more.
  [[0, 0, 0, 0.8, 0.8], "special"],
  [[0.3, 0.3, 0.3, 0, 0], "mixed"],
  [[0.49, 0, 0, 0, 0], "mixed"],
])("shares of %o are called %s", ([shares, pattern]) => {
  expect(patternOf(layerOf(shares), 0, SELF)).toBe(pattern);
});

test("keys of another text have no neighbours, so that a diagonal says nothing", () => {
  const cross = { ...SELF, keys: { ...SELF.keys } };
  expect(patternOf(layerOf([0.1, 0.9, 0, 0, 0]), 0, cross)).toBe("mixed");
  expect(patternOf(layerOf([0.4, 0, 0, 0, 0.6]), 0, cross)).toBe("special");
});

test("the kinds of all heads are counted, the most frequent first", () => {
  const [next, mixed] = [
    [0, 0, 1, 0, 0],
    [0, 0, 0, 0, 0],
  ];
  const [both, one] = [layerOf(next, mixed), layerOf(mixed)];
  const heads = [
    { layer: both, head: 0 },
    { layer: both, head: 1 },
    { layer: one, head: 0 },
  ];
  const phrase = countPatterns(heads, SELF, palette(false));
  const text = phrase.map((part) => (typeof part === "string" ? part : part.text)).join("");
  expect(text).toMatch(/2 mixed\W+1 next token/);
});
