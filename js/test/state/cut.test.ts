import { signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { cutsOf, isCut, linkAt, restore, toggleCut } from "../../src/state/off.ts";
import { stateOf } from "../support/choices.ts";

const AT = [1, 2] as const;

test("the pair that is pointed at goes before the locked one", () => {
  const state = stateOf({ query: 3, key: 1 });
  state.hover.value = { query: 4, key: 2 };
  toggleCut(state, AT);
  expect(state.cut.value).toEqual([[[4], [2], [1], [2]]]);
  // A token that is pointed at is a pair with the one that is locked on the other side.
  state.hover.value = { query: null, key: 0 };
  toggleCut(state, null);
  expect(state.cut.value[1]).toEqual([[3], [0], null, null]);
  expect(cutsOf(state, AT).length).toBe(2);
  expect(cutsOf(state, [1, 0])).toEqual([state.cut.value[1]]);
  toggleCut(state, null);
  restore(state, state.cut.value[0]);
  expect(state.cut.value).toEqual([]);
});

test("a locked span is cut off from all other tokens", () => {
  const state = stateOf({ key: 1, also: [2] });
  const others = state.shown.stack.value.queries.labels.flatMap((_, at) =>
    at === 1 || at === 2 ? [] : [at],
  );
  expect(isCut(state, AT)).toBe(false);
  toggleCut(state, AT);
  expect(state.cut.value).toEqual([[others, [1, 2], [1], [2]]]);
  expect(isCut(state, AT)).toBe(true);
  toggleCut(state, AT);
  expect(state.cut.value).toEqual([]);
});

test("all tokens of a word are cut, and nothing where nothing is locked", () => {
  const state = stateOf();
  expect(toggleCut(state, AT)).toBe(false);
  const { queries } = state.shown.stack.value;
  const words = { labels: ["one", "rest"], of: queries.labels.map((_, at) => (at < 2 ? 0 : 1)) };
  const joined = { ...queries, words };
  const stack = { ...state.shown.stack.value, queries: joined, keys: joined };
  const shown = { ...state, shown: { ...state.shown, stack: signal(stack) } };
  state.words.value = true;
  expect(linkAt(shown, { query: 3, key: 1 })).toEqual([
    words.of.flatMap((w, at) => (w ? [at] : [])),
    [0, 1],
  ]);
});
