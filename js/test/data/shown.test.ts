import { expect, test } from "vitest";
import { choiceOf, partsOf, shownTokens } from "../../src/data/shown.ts";
import { storeOf } from "../support/choices.ts";

const stack = storeOf().stack("self").info;
const ALL = [0, 1, 2, 3, 4, 5, 6, 7, 8];

test.for([
  { segments: "from:1-3", queries: [1, 2], keys: ALL },
  { segments: "to:7-99", queries: ALL, keys: [7, 8] },
  { segments: "to:20-22", queries: ALL, keys: ALL },
  { segments: "ab", queries: [0, 1, 2, 3, 4], keys: [5, 6, 7, 8] },
])("$segments shows its tokens, or all if there are none", ({ segments, queries, keys }) => {
  expect(shownTokens(segments, stack)).toEqual({ queries, keys });
});

test("content leaves out special tokens, alone and of a choice", () => {
  const special = (...positions: number[]) => ({ ...stack.queries, special: positions });
  const ends = { queries: special(0, 8), keys: special(0, 8) };
  const inner = ALL.slice(1, 8);
  expect(shownTokens("content", ends)).toEqual({ queries: inner, keys: inner });
  expect(shownTokens("content ab", ends)).toEqual({ queries: [1, 2, 3, 4], keys: [5, 6, 7] });
  expect(shownTokens("content to:7-9", ends)).toEqual({ queries: inner, keys: [7] });
  // A side of special tokens alone is shown.
  expect(shownTokens("content to:8-9", ends).keys).toEqual([8]);
  expect(shownTokens("content", { ...ends, queries: special(...ALL) }).queries).toEqual(ALL);
});

test.for(["all", "ab", "from:1-3", "content", "content ab", "content from:1-3"])(
  "%s is made of its parts",
  (choice) => {
    expect(choiceOf(...partsOf(choice))).toBe(choice);
  },
);
