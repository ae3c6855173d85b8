/** The links between tokens that are worth going to. */

import { expect, test } from "vitest";
import { axesOf } from "../../../src/views/shared/axes.ts";
import { type Link, strongestLinks } from "../../../src/views/shared/links.ts";
import { stateOf } from "../../support/choices.ts";
import { noisyLayer, positions } from "../../support/layers.ts";
import { headMatrix } from "../../support/lenses.ts";

/** Links of the first head of a layer with so many tokens, and the reported progress. */
function linksOf(tokens: number, special: readonly number[]) {
  const layer = noisyLayer(tokens);
  const text = { ...positions(tokens), special };
  const axes = axesOf(stateOf(), { ...layer.stack, queries: text, keys: text });
  let found: readonly Link[] = [];
  let done = 0;
  strongestLinks(headMatrix(layer, 0), axes, (part, links) => {
    [done, found] = [part, links];
  });
  return { done, found: found.map(({ query, key }) => [query, key]) };
}

test("are those between two words", () => {
  expect(linksOf(4, [3])).toEqual({ done: 1, found: [[2, 1]] });
});

test("are none of one token, and of special ones alone: and that is known", () => {
  expect(linksOf(1, [])).toEqual({ done: 1, found: [] });
  expect(linksOf(2, [0, 1])).toEqual({ done: 1, found: [] });
});
