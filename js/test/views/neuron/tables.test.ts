/** Tables that can be copied from the neuron view. */

import { signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { decodeBlock } from "../../../src/data/codec.ts";
import { LayerData } from "../../../src/data/layer-data.ts";
import { readManifest } from "../../../src/data/read-manifest.ts";
import type { Choices } from "../../../src/state/choices.ts";
import { analyzeQuery } from "../../../src/views/neuron/query-analysis.ts";
import { neuronTables } from "../../../src/views/neuron/words.ts";
import { stateOf } from "../../support/choices.ts";
import { LABELS, NAMES, scoreAt, weightAt } from "../../support/numbers.ts";
import { blockOf, RECORD } from "../../support/vectors.ts";
import { vector } from "./vectors-of.ts";

/** Head 3 of the first layer, with query 5 in focus. */
function analysisOf(choices: Partial<Choices> = {}) {
  const [stack] = readManifest(RECORD.manifest).stacks;
  const state = stateOf({ head: 3, query: 5, ...choices });
  const data = new LayerData(stack, stack.layers[0], decodeBlock(blockOf(RECORD.blocks["self.0"])));
  return analyzeQuery(state, data, signal(5));
}

/** A table of it, by its name. */
function table(name: string, choices: Partial<Choices> = {}) {
  return neuronTables(analysisOf(choices))
    .find((one) => one.name === name)
    ?.rows() as (string | number)[][];
}

test("what the segments leave out is neither in focus nor compared", () => {
  const [query, key] = [LABELS.length - 1, LABELS.length - 2];
  const all = analysisOf({ key, also: [query] });
  expect(all.focusKey.value).toBe(key);
  expect(all.comparison.value?.query).toBe(query);
  // Neither is of the first text.
  const first = analysisOf({ key, also: [query], segments: "aa" });
  expect(first.explanation.value.query).toBe(0);
  expect([first.focusKey.value, first.comparison.value]).toEqual([null, null]);
});

test("are those of a row, of the matrix, and of the vectors", () => {
  for (const name of ["Row", "Matrix", "Vectors"]) expect(table(name).length).toBeGreaterThan(9);
});

test("a row has the numbers of every key", () => {
  const [head, ...rows] = table("Row");
  expect(head).toEqual(["position", "token", "q·k", "score", "weight"]);
  expect(rows.map((row) => row.slice(0, 2))).toEqual(LABELS.map((label, at) => [at, label]));
  rows.forEach(([, , dot, score, weight], key) => {
    expect(score).toBeCloseTo(scoreAt(0, 3, 5, key) ?? Number.NaN, 5);
    expect(dot).toBeCloseTo(2 * (score as number), 5);
    expect(weight).toBeCloseTo(weightAt(0, 3, 5, key), 5);
  });
});

test("a row has both queries that are compared, and both kinds of number while some are muted", () => {
  const [head, first] = table("Row", { also: [7], muted: [0, 1, 2, 3] });
  const of = `${NAMES[7]}: `;
  const columns = ["q·k", "score", "weight", "q·k (muted)", "score (muted)", "weight (muted)"];
  expect(head.slice(2)).toEqual([...columns, ...columns.map((name) => of + name)]);
  expect(first[head.indexOf("weight (muted)")]).toBeCloseTo(1 / LABELS.length, 6);
  expect(first[head.indexOf(`${of}weight`)]).toBeCloseTo(weightAt(0, 3, 7, 0), 5);
});

test("the matrix has the tokens at its sides", () => {
  const [head, ...rows] = table("Matrix");
  expect(head).toEqual(["", ...LABELS]);
  expect(rows.map(([label]) => label)).toEqual(LABELS);
  expect(rows[5][1 + 2]).toBeCloseTo(weightAt(0, 3, 5, 2), 5);
});

test("vectors have a column per component", () => {
  const [head, ...rows] = table("Vectors");
  expect(head).toEqual(["side", "position", "token", "n0", "n1", "n2", "n3"]);
  expect(rows.length).toBe(2 * LABELS.length);
  expect(rows[5]).toEqual(["query", 5, LABELS[5], ...vector(0, "queries", 3, 5)]);
  expect(rows.at(-1)).toEqual(["key", 8, LABELS[8], ...vector(0, "keys", 3, 8)]);
});
