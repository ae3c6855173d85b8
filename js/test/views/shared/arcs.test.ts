/** Annotated links: which of them a head finds. */

import { expect, test } from "vitest";
import { storedMatrix } from "../../../src/data/attention-matrix.ts";
import { arcsCount, arcsOf, drawnArcs } from "../../../src/views/shared/arcs.ts";
import { axesOf } from "../../../src/views/shared/axes.ts";
import { stateOf } from "../../support/choices.ts";
import { compared } from "../../support/compared.ts";
import { LABELS } from "../../support/numbers.ts";

const COUNT = LABELS.length;

/** The shared record's tokens 0, 4 and 8 are special; tokens 2 and 3 are a word. */
function found(weights: Float32Array, words: boolean, ...links: readonly object[]) {
  const state = stateOf({ words });
  const stack = state.shown.stack.value;
  const arcs = links.map((link) => ({ stack: stack.name, label: "", by: "query", ...link }));
  const matrix = storedMatrix("", weights, stack.keys.labels.length);
  return drawnArcs(arcs as never, axesOf(state, stack), matrix).map(({ hit }) => hit);
}

const only = (...places: readonly (readonly [number, number, number])[]) => {
  const weights = new Float32Array(COUNT * COUNT).fill(0.01);
  for (const [query, key, weight] of places) weights[query * COUNT + key] = weight;
  return weights;
};

test("special tokens and the query itself do not count", () => {
  const weights = only([1, 0, 0.9], [1, 1, 0.5], [1, 3, 0.2], [5, 3, 0.1]);
  const links = [
    { query: [1, 2], key: [3, 4] },
    { query: [1, 2], key: [2, 4] },
    { query: [1, 2], key: [5, 6] },
  ];
  expect(found(weights, false, ...links)).toEqual([true, true, false]);
});

test("the key may decide, and missing weights decide nothing", () => {
  const weights = only([1, 3, 0.2], [5, 3, 0.3], [6, 1, Number.NaN]);
  const links = [
    { query: [5, 6], key: [3, 4], by: "key" },
    { query: [1, 2], key: [3, 4], by: "key" },
    { query: [6, 7], key: [3, 4] },
  ];
  expect(found(weights, false, ...links)).toEqual([true, false, null]);
});

test("in a comparison, the arcs of A are of B and of the difference, which finds none", () => {
  const state = stateOf({}, compared());
  const link = { label: "", by: "query", query: [1, 2], key: [3, 4] } as const;
  state.arcs.value = [{ ...link, stack: "self" }];
  const found = (["a", "b", "difference"] as const).map((shown) => {
    state.compared.value = shown;
    const stack = state.shown.stack.value;
    const difference = stack.difference !== undefined;
    const matrix = { ...storedMatrix("", only([1, 3, 0.9]), COUNT), difference };
    const drawn = drawnArcs(arcsOf(state, stack.name), axesOf(state, stack), matrix);
    return [drawn.map(({ hit }) => hit), arcsCount(drawn, "It")];
  });
  const one = [[true], "It finds 1 of 1 annotated links"];
  expect(found).toEqual([one, one, [[null], ""]]);
});
