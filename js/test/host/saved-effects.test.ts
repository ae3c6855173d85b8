/** The effects of heads that are off, as a page has them. */

import { expect, test } from "vitest";
import { Absent } from "../../src/data/resource-cache.ts";
import { savedEffects } from "../../src/host/saved-effects.ts";
import type { Cut } from "../../src/state/choices.ts";

const effect = (position: number) => ({
  ...{ predicts: "next", position, label: "the", positions: 6, divergence: 1.5, mean: 0.25 },
  changes: [{ label: "mat", before: 0.5, after: 0.25, rank_before: 1, rank_after: 2 }],
});
const saved = (...heads: readonly (readonly [number, number])[]) => ({
  stack: "self",
  heads,
  cut: [] as Cut[],
  replies: [
    { query: null, effect: effect(5) },
    { query: 2, effect: effect(2) },
  ],
});
const { signal } = new AbortController();

test("effects of the heads that the page has, at the locked query or without one", async () => {
  const here = savedEffects([saved([1, 5]), saved([1, 3], [1, 5])]);
  const ask = here?.effect;
  if (!ask) throw new Error("none");
  const pair = { stack: "self", heads: [[1, 3] as const, [1, 5] as const], cut: [] };
  await expect(ask(pair, 2, signal)).resolves.toMatchObject({ position: 2 });
  await expect(ask(pair, null, signal)).resolves.toMatchObject({ position: 5 });
  const only = ". This page has only positions 5 and 2.";
  await expect(ask(pair, 3, signal)).resolves.toMatchObject({ position: 5, only });
  await expect(ask(pair, 5, signal)).resolves.not.toHaveProperty("only");
  const others = ask({ stack: "self", heads: [[0, 0]], cut: [] }, null, signal);
  await expect(others).rejects.toThrow(Absent);
  const said = "This page was saved with the effect of 1-5; 1-3 with 1-5. ";
  await expect(others).rejects.toThrow(`${said}For others`);
  expect([here.saved("self"), here.saved("cross")]).toEqual([said, ""]);
});

test("effects of cut links, and of heads in a page of an older version", async () => {
  const link: Cut = [[3], [1, 2], [1], [5]];
  const { cut: _, ...older } = saved([1, 5]);
  const here = savedEffects([older, { ...saved(), cut: [link] }]);
  const ask = here?.effect;
  if (!ask) throw new Error("none");
  const off = { stack: "self", heads: [], cut: [link] };
  await expect(ask(off, null, signal)).resolves.toMatchObject({ position: 5 });
  const head = { ...off, heads: [[1, 5] as const], cut: [] };
  await expect(ask(head, null, signal)).resolves.toMatchObject({ position: 5 });
  const other = ask({ ...off, cut: [[[3], [1], null, null]] }, null, signal);
  await expect(other).rejects.toThrow("with the effect of 1-5; cut links");
});

test("a page without effects, and a damaged one", () => {
  expect(savedEffects(undefined)).toBeNull();
  expect(savedEffects([])).toBeNull();
  expect(() => savedEffects([{ stack: "self", heads: [[1]], replies: [] }])).toThrow("not valid");
});
