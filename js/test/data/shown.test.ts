import { expect, test } from "vitest";
import { shownTokens } from "../../src/data/shown.ts";
import { storeOf } from "../support/choices.ts";

const stack = storeOf().stack("self");
const ALL = [0, 1, 2, 3, 4, 5, 6, 7, 8];

test.for([
  { segments: "from:1-3", queries: [1, 2], keys: ALL },
  { segments: "to:7-99", queries: ALL, keys: [7, 8] },
  { segments: "to:20-22", queries: ALL, keys: ALL },
  { segments: "ab", queries: [0, 1, 2, 3, 4], keys: [5, 6, 7, 8] },
])("$segments shows its tokens, or all if there are none", ({ segments, queries, keys }) => {
  expect(shownTokens(segments, stack)).toEqual({ queries, keys });
});
