import { effect } from "@preact/signals-core";
import { describe, expect, test } from "vitest";
import { readManifest } from "../../src/data/read-manifest.ts";
import { shownTokens } from "../../src/data/shown.ts";
import { CHOICES, defaults } from "../../src/state/choices.ts";
import { toggleLock } from "../../src/state/locks.ts";
import { activeHeads, goTo, goToStack, stepLayer } from "../../src/state/navigation.ts";
import { accept, createState, type State } from "../../src/state/state.ts";
import { stateOf } from "../support/choices.ts";
import { OVERVIEW, RECORD } from "../support/vectors.ts";

// The layers of the record have 4, 2 and 10 heads.

const shown = ({ shown: { stack, layer, head } }: State) => [
  stack.value.name,
  layer.value.number,
  head.value,
];

test("choices that a host leaves out are as in a new widget", () => {
  const state = stateOf();
  const values = Object.fromEntries(CHOICES.map((name) => [name, state[name].value]));
  expect(values).toEqual(defaults("self"));
});

describe("goTo", () => {
  test.for([
    { to: 2, layer: 2 },
    { to: 3, layer: 2 },
    { to: 99, layer: 2 },
    { to: -1, layer: 0 },
  ])("layer $to shows layer $layer", ({ to, layer }) => {
    const state = stateOf({ layer: 1 });
    goTo(state, { layer: to });
    expect(state.layer.value).toBe(layer);
  });

  test.for([
    { to: 1, head: 1 },
    { to: 4, head: 3 },
    { to: -1, head: 0 },
  ])("head $to shows head $head of four", ({ to, head }) => {
    const state = stateOf({ head: 2 });
    goTo(state, { head: to });
    expect([state.layer.value, state.head.value]).toEqual([0, head]);
  });

  test("keeps the head where the layer has it, and takes the last one where not", () => {
    const state = stateOf({ layer: 2, head: 3 });
    goTo(state, { layer: 0 });
    expect(state.head.value).toBe(3);
    goTo(state, { layer: 1 });
    expect(state.head.value).toBe(1);
  });

  test("takes layer and head together", () => {
    const state = stateOf();
    goTo(state, { layer: 2, head: 9 });
    expect([state.layer.value, state.head.value]).toEqual([2, 9]);
  });

  test("never lets anyone see a head that the layer lacks", () => {
    const state = stateOf({ layer: 2, head: 9, heads: [0, 9] });
    const seen: unknown[] = [];
    effect(() => {
      seen.push([state.layer.value, state.head.value, state.heads.value]);
    });
    goTo(state, { layer: 1 });
    expect(seen).toEqual([
      [2, 9, [0, 9]],
      [1, 0, [0]],
    ]);
  });

  test("counts the layers and heads of its own stack", () => {
    const state = stateOf({ stack: "cross", head: 1, layer: 7 }, OVERVIEW);
    goTo(state, { layer: 3 });
    expect([state.layer.value, state.head.value]).toEqual([3, 0]);
  });

  test("takes the layer before where the model's number has none", () => {
    const state = stateOf({ stack: "cross" }, OVERVIEW);
    for (const [to, layer] of [
      [6, 3],
      [8, 7],
      [2, 3],
    ]) {
      goTo(state, { layer: to });
      expect(state.layer.value).toBe(layer);
    }
  });
});

describe("stepLayer", () => {
  test("goes to the next layer that there is, and stays at the ends", () => {
    const state = stateOf({ stack: "cross", layer: 3 }, OVERVIEW);
    const seen = [1, 1, -1, -1].map((by) => {
      stepLayer(state, by);
      return state.layer.value;
    });
    expect(seen).toEqual([7, 7, 3, 3]);
  });

  test("steps from what is shown, where the trait names what is not there", () => {
    const state = stateOf({ stack: "cross", layer: 5 }, OVERVIEW);
    stepLayer(state, 1);
    expect(state.layer.value).toBe(7);
  });
});

describe("goToStack", () => {
  test("keeps the layer and head that there are, and takes the nearest else", () => {
    const state = stateOf({ stack: "cross", layer: 7, head: 1 }, OVERVIEW);
    goToStack(state, "encoder");
    expect(shown(state)).toEqual(["encoder", 1, 1]);
    goToStack(state, "cross");
    expect(shown(state)).toEqual(["cross", 3, 0]);
    expect([state.layer.value, state.head.value]).toEqual([3, 0]);
  });

  test("releases the locks that do not fit, and draws the heads that do", () => {
    const state = stateOf(
      { stack: "encoder", layer: 1, query: 9, key: 4, heads: [0, 2] },
      OVERVIEW,
    );
    goToStack(state, "cross");
    expect([state.query.value, state.key.value, state.heads.value]).toEqual([null, 4, [0]]);
    goToStack(state, "encoder");
    expect([state.query.value, state.key.value]).toEqual([null, 4]);
  });

  test("forgets where the reader was in a text that the other does not have", () => {
    const known = readManifest(OVERVIEW.manifest);
    const [encoder, cross] = known.stacks;
    const mixed = { ...cross, name: "mixed", keys: encoder.queries };
    const state = createState({ ...known, stacks: [encoder, mixed] }, { stack: "encoder" });
    Object.assign(state.begin, { query: 20.5, key: 21 });
    Object.assign(state.cursor, { query: 22, key: 23 });
    state.zoom.value = { rows: 37, columns: 37, row: 3, column: 4, span: 9 };
    goToStack(state, "mixed");
    expect(state.begin).toEqual({ query: null, key: 21 });
    expect(state.cursor).toEqual({ query: -1, key: 23 });
    expect(state.zoom.value).toBeNull();
  });

  test("lets no one see a layer or lock of the one in the other", () => {
    const state = stateOf({ stack: "encoder", layer: 1, query: 9 }, OVERVIEW);
    const seen: unknown[] = [];
    effect(() => {
      seen.push([...shown(state), state.layer.value, state.query.value]);
    });
    goToStack(state, "cross");
    expect(seen).toEqual([
      ["encoder", 1, 0, 1, 9],
      ["cross", 3, 0, 3, null],
    ]);
  });
});

describe("what is shown is what the record has", () => {
  test("where traits name a layer or head that it lacks", () => {
    expect(shown(stateOf({ layer: 7, head: 99 }))).toEqual(["self", 2, 9]);
    expect(shown(stateOf({ layer: 1, head: 9 }))).toEqual(["self", 1, 1]);
  });

  test("where a trait names a stack that it lacks", () => {
    expect(shown(stateOf({ stack: "decoder" }, OVERVIEW))).toEqual(["encoder", 0, 0]);
  });

  test("where one trait follows the other a moment later", () => {
    const state = stateOf({ layer: 2, head: 9 });
    state.layer.value = 0;
    expect(shown(state)).toEqual(["self", 0, 3]);
    state.head.value = 1;
    expect(shown(state)).toEqual(["self", 0, 1]);
  });
});

test("activeHeads: those chosen that the layer has, or else all", () => {
  expect(activeHeads(stateOf({ heads: [2, 3] }), 4)).toEqual([2, 3]);
  expect(activeHeads(stateOf({ heads: [2, 4] }), 4)).toEqual([2]);
  expect(activeHeads(stateOf({ heads: [4, 9] }), 4)).toEqual([0, 1, 2, 3]);
  expect(activeHeads(stateOf(), 2)).toEqual([0, 1]);
});

describe("toggleLock", () => {
  test("locks a token, another one, and releases it", () => {
    const state = stateOf();
    toggleLock(state, { query: 3, key: null });
    expect(state.query.value).toBe(3);
    toggleLock(state, { query: 0, key: null });
    expect(state.query.value).toBe(0);
    toggleLock(state, { query: 0, key: null });
    expect(state.query.value).toBeNull();
  });

  test("locks the place as a whole, and no one sees half of it", () => {
    const state = stateOf({ query: 3 });
    const seen: unknown[] = [];
    effect(() => {
      seen.push([state.query.value, state.key.value]);
    });
    toggleLock(state, { query: null, key: 3 });
    toggleLock(state, { query: 5, key: 3 });
    toggleLock(state, { query: 5, key: 3 });
    expect(seen).toEqual([
      [3, null],
      [null, 3],
      [5, 3],
      [null, null],
    ]);
  });
});

describe("what is looked at", () => {
  test("is what is hovered, else what is locked", () => {
    const state = stateOf({ query: 3 });
    expect(state.focus.value).toEqual({ query: 3, key: null });
    state.hover.value = { query: null, key: 1 };
    expect(state.focus.value).toEqual({ query: null, key: 1 });
    state.hover.value = null;
    expect(state.focus.value).toEqual({ query: 3, key: null });
  });

  test("is nothing where the stack does not have the locked token", () => {
    const state = stateOf({ stack: "encoder", query: 30, key: 4 }, OVERVIEW);
    expect(state.focus.value).toEqual({ query: 30, key: 4 });
    state.stack.value = "cross";
    expect(state.focus.value).toEqual({ query: null, key: 4 });
    state.key.value = 5;
    expect(state.focus.value).toEqual({ query: null, key: null });
  });
});

describe("shownTokens", () => {
  const [pair] = readManifest(RECORD.manifest).stacks;
  const [a, b] = [
    [0, 1, 2, 3, 4],
    [5, 6, 7, 8],
  ];

  test.for([
    { segments: "all", queries: [...a, ...b], keys: [...a, ...b] },
    { segments: "aa", queries: a, keys: a },
    { segments: "ab", queries: a, keys: b },
    { segments: "ba", queries: b, keys: a },
    { segments: "bb", queries: b, keys: b },
  ] as const)("of a pair, $segments", ({ segments, queries, keys }) => {
    expect(shownTokens(segments, pair)).toEqual({ queries, keys });
  });

  test("of a single text, all of it, whatever is chosen", () => {
    const [, cross] = readManifest(OVERVIEW.manifest).stacks;
    expect(shownTokens("ab", cross)).toEqual({ queries: [0, 1, 2], keys: [0, 1, 2, 3, 4] });
  });

  test("of a pair seen from a text of its own, all of it", () => {
    const own = { ...pair.queries, segments: null };
    expect(shownTokens("ab", { ...pair, queries: own }).keys).toEqual([...a, ...b]);
  });

  test("of a pair without a second text, all of it rather than nothing", () => {
    const alone = { ...pair.queries, segments: pair.queries.labels.map(() => 0) };
    const all = [...a, ...b];
    const stack = { ...pair, queries: alone, keys: alone };
    expect(shownTokens("ab", stack)).toEqual({ queries: all, keys: all });
  });
});

test("an invalid choice changes nothing, and an error says so", () => {
  const state = stateOf({ head: 1 });
  expect(state.error.value).toBeNull();
  accept(state, "head", "2");
  expect(state.head.value).toBe(1);
  expect(state.error.value).toBe(
    "The new value of head is not valid, so the view keeps the old one.",
  );
  accept(state, "head", 2);
  expect(state.head.value).toBe(2);
});
