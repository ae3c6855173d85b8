import { describe, expect, test } from "vitest";
import type { Choices } from "../../src/state/choices.ts";
import { lockedOn, release, toggleAlso, togglePair } from "../../src/state/locks.ts";
import { stateOf } from "../support/choices.ts";

const locked = (choices: Partial<Choices>, act: (state: ReturnType<typeof stateOf>) => void) => {
  const state = stateOf(choices);
  act(state);
  return [state.query.value, state.key.value, state.also.value];
};

describe("toggleAlso", () => {
  test("puts the last token at the front, where an observer hears of it", () => {
    const state = stateOf();
    for (const position of [4, 1, 6]) toggleAlso(state, "query", position);
    expect([state.query.value, state.also.value]).toEqual([6, [1, 4]]);
    expect(lockedOn(state, "query")).toEqual([6, 1, 4]);
    toggleAlso(state, "query", 6);
    expect([state.query.value, state.also.value]).toEqual([1, [4]]);
  });

  test("starts anew in the other column", () => {
    expect(locked({ query: 4, also: [1] }, (s) => toggleAlso(s, "key", 2))).toEqual([null, 2, []]);
  });

  test("releases one side of a pair, and keeps the other", () => {
    expect(locked({ query: 4, key: 2 }, (s) => toggleAlso(s, "query", 4))).toEqual([null, 2, []]);
    expect(locked({ query: 4, key: 2 }, (s) => toggleAlso(s, "key", 2))).toEqual([4, null, []]);
  });
});

describe("togglePair", () => {
  test("locks a token beside what was locked last in the other column", () => {
    expect(locked({ query: 4, also: [1] }, (s) => togglePair(s, "key", 2))).toEqual([4, 2, []]);
    expect(locked({ key: 3 }, (s) => togglePair(s, "query", 0))).toEqual([0, 3, []]);
  });

  test("takes another token, or releases the same one", () => {
    expect(locked({ query: 4, key: 2 }, (s) => togglePair(s, "key", 5))).toEqual([4, 5, []]);
    expect(locked({ query: 4, key: 2 }, (s) => togglePair(s, "key", 2))).toEqual([4, null, []]);
  });
});

test("release lets go of everything", () => {
  expect(locked({ query: 4, also: [1, 2] }, release)).toEqual([null, null, []]);
  expect(locked({ query: 4, key: 2 }, release)).toEqual([null, null, []]);
});
