import { expect, test } from "vitest";
import { placeNear } from "../../../src/views/neuron/pointer.ts";
import type { QueryAnalysis } from "../../../src/views/neuron/query-analysis.ts";

const signal = <Value>(value: Value) => ({ value, peek: () => value });
/** Sixteen neurons, of which the ninth adds most. */
const q = Float32Array.from({ length: 16 }, (_, n) => (n === 8 ? -9 : 1));
const analysis = {
  data: { query: () => q, key: () => new Float32Array(16).fill(1) },
  head: signal(0),
  order: signal([...q.keys()]),
  explanation: signal({ query: 0 }),
} as unknown as QueryAnalysis;

test.for([
  ["the strongest within reach, of cells of 4 px", 64, 29, 3, 8],
  ["the cell itself, if nothing strong is near", 64, 14, 3, 3],
  ["the cell itself, if it is wide", 160, 75, 3, 7],
  ["the cell itself, without a key", 64, 29, null, 7],
  ["the last cell, beyond it", 64, 99, 3, 15],
] as const)("the pointer means %s", ([, width, x, key, place]) => {
  expect(placeNear(analysis, x, width, key)).toBe(place);
});
