import { describe, expect, test } from "vitest";
import type { StackInfo, Tokens } from "../../src/data/manifest.ts";
import { hasWords, unitsOf } from "../../src/data/units.ts";

const tokens: Tokens = {
  labels: ["[CLS]", "un", "believ", "able", "!", "[SEP]"],
  segments: null,
  special: [0, 5],
  words: { labels: ["[CLS]", "unbelievable", "!", "[SEP]"], of: [0, 1, 1, 1, 2, 3] },
  patches: null,
  boxes: null,
  generated: null,
};

describe("tokens as they are", () => {
  test.for([
    { name: "where words are not asked for", of: tokens, joined: false },
    { name: "where words are not known", of: { ...tokens, words: null }, joined: true },
  ])("$name", ({ of, joined }) => {
    const units = unitsOf(of, joined);
    expect(units.labels).toEqual(tokens.labels);
    expect(units.special).toEqual([0, 5]);
    expect(units.tokens).toEqual([[0], [1], [2], [3], [4], [5]]);
    expect(units.of).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

test("words have the tokens that make them up, and special ones stay special", () => {
  expect(unitsOf(tokens, true)).toEqual({
    labels: ["[CLS]", "unbelievable", "!", "[SEP]"],
    special: [0, 3],
    generated: null,
    tokens: [[0], [1, 2, 3], [4], [5]],
    of: [0, 1, 1, 1, 2, 3],
  });
});

describe("words are a choice", () => {
  const single: Tokens = {
    ...tokens,
    labels: ["a", "b"],
    special: [],
    words: { labels: ["a", "b"], of: [0, 1] },
  };
  const none: Tokens = { ...tokens, words: null };

  test.for([
    { name: "where one side has a word of several tokens", sides: [single, tokens], given: true },
    { name: "where both have", sides: [tokens, tokens], given: true },
    { name: "not where each word is one token", sides: [single, single], given: false },
    { name: "not where they are not known", sides: [none, none], given: false },
  ] as const)("$name", ({ sides: [queries, keys], given }) => {
    const stack: StackInfo = { name: "self", queries, keys, sampled: null, text: null, layers: [] };
    expect(hasWords(stack)).toBe(given);
  });
});
