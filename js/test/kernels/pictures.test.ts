/** The kernels of pictures draw the same in JavaScript and in WebAssembly. */

import { expect, test } from "vitest";
import { LineField } from "../../src/kernels/lines.ts";
import { RadonField } from "../../src/kernels/radon.ts";
import { noise } from "../support/layers.ts";
import { BOTH, difference, put, script, wasm } from "./both.ts";

/** The largest difference of two pictures, in steps of which opacity has 255. */
const steps = (a: Uint8ClampedArray, b: Uint8ClampedArray) =>
  Math.max(...a.map((value, n) => Math.abs(value - b[n])));

const positive = (count: number, seed: number) => noise(count, seed).map(Math.abs);

test("colours are mixed alike", () => {
  const [matrices, keys] = [5, 11];
  const weights = positive(matrices * keys, 3);
  for (let n = 0; n < matrices; n++) weights[n * keys + 4] = 0; // a key that nothing goes to
  const inks = positive(matrices * 4, 7).map((value, n) => (n % 4 === 3 ? 1 : 255 * value));
  const [a, b] = [script(), wasm()].map((kernels) => {
    const out = kernels.floats(4 * keys);
    kernels.mix(put(kernels, weights), put(kernels, inks), out);
    return out;
  });
  expect(difference(b, a)).toBeLessThan(1e-6);
  expect([...a.subarray(16, 20)]).toEqual([0, 0, 0, 0]);
});

test("curves are drawn alike, to a step of a pixel's 255", () => {
  const places = noise(80, 5).map((value) => 45 + 70 * value);
  const [a, b] = [script(), wasm()].map((kernels) => {
    const field = new LineField(90, 70, kernels);
    // More than are drawn at once.
    for (let n = 0; n < 600; n++) {
      const color = [5 * (n % 40), 250 - 5 * (n % 40), 99] as const;
      field.add(places[n % 80], places[(7 * n) % 79], 0.5 + (n % 40) / 9, color, 0.02);
    }
    return field.pixels();
  });
  expect(steps(b, a)).toBeLessThanOrEqual(1);
  expect(a.some((value) => value > 100)).toBe(true);
});

test.for(BOTH)("a curve in %s may cover what is below it", ([, make]) => {
  const kernels = make();
  const [height, opacity] = [8, 0.5];
  const sums = kernels.floats(4 * height);
  const bends = put(kernels, [0.5, 0, 0]);
  const flat = (red: number, cover: 0 | 1) => {
    const list = put(kernels, [4, 4, 4, opacity, red, 0, 0, 1]);
    kernels.curves(sums, height, bends, 0, list, cover);
  };
  flat(200, 0);
  flat(100, 1);
  const pixel = [...sums.subarray(4 * 3, 4 * 4)];
  [200 * 0.25 + 100 * 0.5, 0, 0, 0.75].forEach((value, n) => {
    expect(pixel[n]).toBeCloseTo(value, 3);
  });
});

function radon(size: number, width: number, height: number, kernels = script()) {
  const field = new RadonField(size, width, height, kernels);
  return {
    add: (query: number, row: ArrayLike<number>) => field.add(query, Float32Array.from(row), 1),
    pixels(gain = 1): Uint8ClampedArray {
      const work = field.pixels(height / size, new Float32Array(width).fill(gain));
      for (;;) {
        const { done, value } = work.next();
        if (done) return value;
      }
    },
  };
}

test("all lines at once are drawn alike", () => {
  const [a, b] = [script(), wasm()].map((kernels) => {
    const field = radon(32, 50, 64, kernels);
    for (let query = 0; query < 32; query++) field.add(query, positive(4 * 32, query + 2));
    return field.pixels(0.01);
  });
  expect(steps(b, a)).toBeLessThanOrEqual(1);
  expect(a.some((value, n) => n % 4 === 3 && value > 20)).toBe(true);
});

test.for([
  [3, 20],
  [20, 3],
  [29, 2],
  [2, 29],
  [12, 12],
])("the line from %i to %i is where it belongs", ([query, key]) => {
  const [size, width, height] = [32, 80, 64];
  const field = radon(size, width, height);
  const row = new Float32Array(4 * size);
  row.set([0, 0, 100, 1], 4 * key);
  field.add(query, row);
  const pixels = field.pixels(0.5);
  for (let x = 0; x < width; x++) {
    const t = (x + 0.5) / width;
    const way = t * t * (3 - 2 * t);
    const expected = 2 * (query + (key - query) * way + 0.5);
    let [sum, middle] = [0, 0];
    for (let y = 0; y < height; y++) {
      const opacity = pixels[4 * (y * width + x) + 3] / 255;
      sum += opacity;
      middle += opacity * (y + 0.5);
    }
    expect(Math.abs(sum - 0.5)).toBeLessThan(0.03);
    expect(Math.abs(middle / sum - expected)).toBeLessThan(1.7);
  }
});

test("lines side by side leave no gaps between them", () => {
  const [size, width, height] = [128, 48, 180];
  const field = radon(size, width, height);
  for (let query = 1; query < size; query++) {
    const row = new Float32Array(4 * size);
    row[4 * (query - 1) + 3] = 1;
    field.add(query, row);
  }
  const pixels = field.pixels(0.3);
  const inner = Array.from({ length: height - 40 }, (_, n) => n + 20);
  for (let x = 0; x < width; x++) {
    const opacities = inner.map((y) => pixels[4 * (y * width + x) + 3]);
    const mean = opacities.reduce((sum, opacity) => sum + opacity, 0) / opacities.length;
    expect(Math.min(...opacities)).toBeGreaterThan(0.4 * mean);
  }
});

test("what no query gives anything to stays clear", () => {
  expect(
    radon(16, 20, 32)
      .pixels()
      .every((value) => value === 0),
  ).toBe(true);
});
