/** Matrices against plain arithmetic on their numbers. */

import { signal } from "@preact/signals-core";
import { describe, expect, test } from "vitest";
import {
  type AttentionMatrix,
  combinedMatrix,
  storedMatrix,
  wordMatrix,
} from "../../src/data/attention-matrix.ts";
import { decodeBlock } from "../../src/data/codec.ts";
import { LayerData } from "../../src/data/layer-data.ts";
import type { Units } from "../../src/data/units.ts";
import { palette } from "../../src/styles/palette.ts";
import { drawnMatrices } from "../../src/views/shared/heads/difference.ts";
import { storeOf } from "../support/choices.ts";
import { headMatrix, matrixBy } from "../support/lenses.ts";
import { scoresOf, weightAt } from "../support/numbers.ts";
import { blockOf, expectClose, RECORD } from "../support/vectors.ts";

const [QUERIES, KEYS] = [4, 6];
const range = (count: number) => Array.from({ length: count }, (_, n) => n);

/** Numbers without a pattern, the same at each run. */
const noise = (seed: number) =>
  range(QUERIES * KEYS).map((n) => Math.abs(Math.sin(seed * 97 + n * 13.7)));

const A = noise(1);
const B = noise(2);
const C = noise(3);
const plain = (values: readonly number[], name = "one") =>
  storedMatrix(name, Float32Array.from(values), KEYS);

const rowsOf = (matrix: AttentionMatrix, queries: number) =>
  range(queries).flatMap((query) => [...matrix.row(query)]);

/** Rows and columns say the same. */
function expectMatrix(matrix: AttentionMatrix, columns: number, expected: readonly number[]): void {
  for (const query of range(expected.length / columns)) {
    const row = expected.slice(query * columns, (query + 1) * columns);
    expectClose(matrix.row(query), row);
  }
  for (const key of range(columns)) {
    const column = expected.filter((_, at) => at % columns === key);
    expectClose(matrix.column(key), column);
  }
}

test.for([0, 1, 2])("a head of layer %i is what the record has of it", (layer) => {
  const stack = storeOf().stack("self").info;
  const arrays = decodeBlock(blockOf(RECORD.blocks[`self.${layer}`]));
  const data = new LayerData(stack, stack.layers[layer], arrays);
  const matrix = headMatrix(data, 1);
  expect([matrix.name, matrix.head]).toEqual(["Head 1", 1]);
  const weights = range(81).map((at) => weightAt(layer, 1, Math.floor(at / 9), at % 9));
  expectMatrix(matrix, 9, weights);
});

test.for([0, 2])(
  "scores of layer %i are the record's, of either sign, masked ones infinite",
  (layer) => {
    const stack = storeOf().stack("self").info;
    const data = new LayerData(
      stack,
      stack.layers[layer],
      decodeBlock(blockOf(RECORD.blocks[`self.${layer}`])),
    );
    const matrix = matrixBy("scores", data, 1);
    const scores = scoresOf(layer, 1);
    expectMatrix(matrix, 9, scores);
    const seen = scores.filter((score) => score !== Number.NEGATIVE_INFINITY);
    expect(matrix.peak).toBeCloseTo(Math.max(...seen.map(Math.abs)), 5);
    const { matrices } = drawnMatrices(signal([matrix]), 4, signal(palette(false)));
    const [above, below] = matrices.value;
    const shares = range(9).flatMap((query) => {
      const [more, less] = [above.row(query), below.row(query)];
      return range(9).map((key) => more[key] - less[key]);
    });
    const peak = matrix.peak ?? 1;
    expectClose(
      shares,
      scores.map((score) => (score === Number.NEGATIVE_INFINITY ? 0 : score / peak)),
    );
    // The worker would draw one matrix of both signs.
    expect(above.source).toBeNull();
  },
);

test("a matrix is its rows and columns", () => {
  expectMatrix(plain(A), KEYS, A);
  expect([plain(A, "all").name, plain(A).head]).toEqual(["all", null]);
});

describe("several heads", () => {
  const matrices = [A, B, C].map((values) => plain(values));

  test("have a mean", () => {
    const mean = combinedMatrix("Mean of 3 heads", matrices, "mean");
    expect([mean.name, mean.head]).toEqual(["Mean of 3 heads", null]);
    expectMatrix(
      mean,
      KEYS,
      A.map((a, n) => (a + B[n] + C[n]) / 3),
    );
  });

  test("have a largest weight, cell by cell", () => {
    const largest = combinedMatrix("Largest of 3 heads", matrices, "max");
    expectMatrix(
      largest,
      KEYS,
      A.map((a, n) => Math.max(a, B[n], C[n])),
    );
  });

  test.for(["mean", "max"] as const)("of which there is one have it as their %s", (how) => {
    expectMatrix(combinedMatrix("one", [plain(A)], how), KEYS, A);
  });

  test("stay what they are", () => {
    for (const how of ["mean", "max"] as const) rowsOf(combinedMatrix("", matrices, how), QUERIES);
    expect(matrices.map((matrix) => rowsOf(matrix, QUERIES))).toEqual(
      [A, B, C].map((values) => [...Float32Array.from(values)]),
    );
  });
});

describe("between words", () => {
  const units = (...tokens: number[][]): Units => ({
    labels: tokens.map((of) => of.join("+")),
    special: [],
    generated: null,
    tokens,
    of: tokens.flatMap((word, at) => word.map(() => at)),
  });
  const queries = units([0], [1, 2], [3]);
  const keys = units([0, 1], [2], [3, 4, 5]);
  const cell = (values: readonly number[], query: number, key: number) =>
    values[query * KEYS + key];
  const words = (
    values: readonly number[],
    from: (parts: number[]) => number,
    to: (parts: number[]) => number,
  ) =>
    queries.tokens.flatMap((word) =>
      keys.tokens.map((other) =>
        from(word.map((query) => to(other.map((key) => cell(values, query, key))))),
      ),
    );
  const sum = (parts: number[]) => parts.reduce((total, part) => total + part, 0);
  const mean = (parts: number[]) => sum(parts) / parts.length;
  const most = (parts: number[]) => Math.max(...parts);

  test("attention to a word is the sum over its tokens, from a word their mean", () => {
    expectMatrix(wordMatrix(plain(A), queries, keys), 3, words(A, mean, sum));
  });

  test("rows still add up to one", () => {
    const shares = A.map((a, at) => {
      const row = Math.floor(at / KEYS) * KEYS;
      return a / sum(A.slice(row, row + KEYS));
    });
    const matrix = wordMatrix(plain(shares), queries, keys);
    for (const query of range(3)) expect(sum([...matrix.row(query)])).toBeCloseTo(1, 5);
  });

  test("of a maximum, the largest", () => {
    expectMatrix(wordMatrix(plain(A), queries, keys, "largest"), 3, words(A, most, most));
  });

  test("a difference has the peak of its sums, or a bound where rows would be fetched", () => {
    const signed = A.map((a) => -a / KEYS);
    const peak = most(signed.map(Math.abs));
    const matrix: AttentionMatrix = { ...plain(signed), difference: true, peak };
    const largest = most(words(signed, mean, sum).map(Math.abs));
    expect(largest).toBeGreaterThan(peak);
    expect(wordMatrix(matrix, queries, keys).peak).toBeCloseTo(largest, 6);
    const remote = { ...matrix, source: null, row: () => expect.unreachable() };
    expect(wordMatrix(remote, queries, keys).peak).toBeCloseTo(Math.min(1, 3 * peak), 6);
    expect(wordMatrix(plain(A), queries, keys).peak).toBeUndefined();
  });

  test("the mean of heads is the mean of their words", () => {
    const mixed = combinedMatrix("", [plain(A), plain(B)], "mean");
    const each = [A, B].map((values) => wordMatrix(plain(values), queries, keys));
    const expected = rowsOf(combinedMatrix("", each, "mean"), 3);
    expectMatrix(wordMatrix(mixed, queries, keys), 3, expected);
  });

  test("tokens that are words by themselves keep their numbers, and heads their names", () => {
    const [alone, others] = [units([0], [1], [2], [3]), units([0], [1], [2], [3], [4], [5])];
    const matrix = wordMatrix({ ...plain(A, "Head 7"), head: 7 }, alone, others);
    expect([matrix.name, matrix.head]).toEqual(["Head 7", 7]);
    expectMatrix(matrix, KEYS, A);
  });
});
