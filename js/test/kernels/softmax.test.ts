/** Products and softmax against plain arithmetic, with both kinds of kernels. */

import { describe, expect, test } from "vitest";
import { noise } from "../support/layers.ts";
import { BOTH, difference, put } from "./both.ts";

const { NEGATIVE_INFINITY } = Number;

describe.for(BOTH)("in %s", ([, make]) => {
  test.for([1, 3, 4, 32, 65])("products of vectors of %i components", (dim) => {
    for (const count of [1, 4, 7]) {
      const kernels = make();
      const [vector, rows] = [noise(dim, 2), noise(count * dim, 3)];
      const out = kernels.floats(count + 4);
      kernels.dots(put(kernels, vector), put(kernels, rows), count, 0.5, out);
      const expected = Array.from({ length: count }, (_, j) =>
        vector.reduce((sum, value, n) => sum + 0.5 * value * rows[j * dim + n], 0),
      );
      expect(difference(out.subarray(0, count), expected)).toBeLessThan(1e-6);
    }
  });

  test.for([1, 2, 5, 64])("a matrix times vectors of %i components", (dim) => {
    for (const count of [1, 4, 7]) {
      const kernels = make();
      const values = noise(dim * count, 2);
      const doubles = (length: number) => {
        const { buffer, byteOffset } = kernels.floats(2 * length);
        return new Float64Array(buffer, byteOffset, length);
      };
      const [matrix, work] = [doubles(dim * dim), doubles(4 * dim)];
      matrix.set(noise(dim * dim, 3));
      const out = kernels.floats((count + 3) * dim);
      kernels.turn(put(kernels, values), 0.5, matrix, work, out);
      const expected = Array.from({ length: count * dim }, (_, at) => {
        const [vector, i] = [Math.floor(at / dim), at % dim];
        const row = matrix.subarray(i * dim, (i + 1) * dim);
        return row.reduce((sum, value, n) => sum + 0.5 * value * values[n * count + vector], 0);
      });
      expect(difference(out.subarray(0, count * dim), expected)).toBeLessThan(1e-6);
    }
  });

  test("a product is the same whichever vector comes first, in any place", () => {
    const kernels = make();
    const [a, b] = [put(kernels, noise(29 * 6, 5)), put(kernels, noise(29 * 6, 7))];
    const [row, column] = [kernels.floats(12), kernels.floats(12)];
    kernels.dots(a.subarray(29 * 2, 29 * 3), b, 6, 0.3, row);
    for (let j = 0; j < 6; j++) {
      kernels.dots(b.subarray(29 * j, 29 * (j + 1)), a, 6, 0.3, column);
      expect(column[2]).toBe(row[j]);
    }
  });

  test("the exponential is right to the last digits, and nothing far down", () => {
    const kernels = make();
    const values = Float32Array.from({ length: 8000 }, (_, n) => -n / 91);
    values.set([0, -1e-30, -1e30, NEGATIVE_INFINITY]);
    const out = put(kernels, values);
    const sum = kernels.exponentials(out, 0);
    let total = 0;
    out.forEach((value, n) => {
      const expected = Math.exp(values[n]);
      total += expected;
      // Less than the smallest normal number may be 0.
      if (expected < 1e-37) expect(value).toBeLessThan(1.01e-37);
      else expect(Math.abs(value - expected) / expected).toBeLessThan(3e-7);
    });
    expect(sum / total).toBeCloseTo(1, 6);
    expect(out[3]).toBe(0);
  });

  test("the largest of a row, also of none", () => {
    const kernels = make();
    const values = noise(64);
    for (const at of [0, 1, 2, 3, 30, 63]) {
      const row = put(kernels, values);
      row[at] = 2;
      expect(kernels.largest(row)).toBe(2);
    }
    expect(kernels.largest(put(kernels, new Array(8).fill(NEGATIVE_INFINITY)))).toBe(
      NEGATIVE_INFINITY,
    );
    expect(kernels.largest(put(kernels, [-5, -3, -4, -9]))).toBe(-3);
  });

  test("a column repeats the very numbers of its rows", () => {
    const kernels = make();
    const scores = noise(16, 11).map((value) => 9 * value);
    const peaks = put(
      kernels,
      noise(16, 3).map((value) => 9 + value),
    );
    const factors = put(
      kernels,
      noise(16, 4).map((value) => 2 + value),
    );
    const column = put(kernels, scores);
    kernels.weights(column, peaks, factors);
    scores.forEach((score, n) => {
      const row = put(kernels, [score, score, NEGATIVE_INFINITY, NEGATIVE_INFINITY]);
      kernels.exponentials(row, peaks[n]);
      kernels.multiply(row, factors[n]);
      expect(row[1]).toBe(column[n]);
    });
  });
});
