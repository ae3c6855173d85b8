import { describe, expect, test } from "vitest";
import { LineField } from "../../src/kernels/lines.ts";

/** Opacity is stored in 255ths: what rounding does to one pixel. */
const STEP = 0.5 / 255;

const BLACK = [0, 0, 0] as const;

/** Opacity of each pixel of a column, 0 to 1. */
function column({ data, width, height }: ImageData, x: number): number[] {
  return Array.from({ length: height }, (_, y) => data[(y * width + x) * 4 + 3] / 255);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
/** Centre of a column's opacity, in pixels from the top. */
const middle = (values: readonly number[]) =>
  sum(values.map((value, y) => value * (y + 0.5))) / sum(values);

/** The cubic that lines are, and its slope, from its control points. */
function curve(from: number, to: number, t: number): number {
  const s = 1 - t;
  return from * s ** 3 + 3 * from * s * s * t + 3 * to * s * t * t + to * t ** 3;
}
const slope = (from: number, to: number, t: number, width: number) =>
  (curve(from, to, t + 1e-4) - curve(from, to, t - 1e-4)) / (2e-4 * width);

describe("a flat line", () => {
  test("covers whole and parts of pixels by its thickness", () => {
    const field = new LineField(7, 6);
    field.add(3.5, 3.5, 1.5, BLACK, 1);
    const image = field.image();
    for (let x = 0; x < 7; x++) {
      const expected = [0, 0, 0.25, 1, 0.25, 0];
      column(image, x).forEach((value, y) => {
        expect(Math.abs(value - expected[y])).toBeLessThanOrEqual(STEP);
      });
    }
  });

  test.for([0.4, 1, 1.3, 2.75])("of thickness %f covers exactly that much", (thickness) => {
    for (const y of [4, 4.3, 4.75]) {
      const field = new LineField(3, 9);
      field.add(y, y, thickness, BLACK, 1);
      const covered = column(field.image(), 1);
      expect(Math.abs(sum(covered) - thickness)).toBeLessThanOrEqual(2 * STEP);
    }
  });
});

describe("a curve", () => {
  const [width, height, from, to, thickness] = [80, 70, 10.25, 58.5, 3];
  const field = new LineField(width, height);
  field.add(from, to, thickness, BLACK, 1);
  const image = field.image();

  test("is as thick across as along, whatever its slope", () => {
    for (let x = 0; x < width; x++) {
      const steepness = slope(from, to, (x + 0.5) / width, width);
      const expected = thickness * Math.sqrt(1 + steepness ** 2);
      expect(Math.abs(sum(column(image, x)) - expected)).toBeLessThanOrEqual(2 * STEP + 1e-3);
    }
  });

  test("follows the cubic with level ends", () => {
    for (let x = 0; x < width; x++) {
      expect(middle(column(image, x))).toBeCloseTo(curve(from, to, (x + 0.5) / width), 1);
    }
  });

  test("starts at `from` and ends at `to`", () => {
    expect(Math.abs(middle(column(image, 0)) - from)).toBeLessThan(0.05);
    expect(Math.abs(middle(column(image, width - 1)) - to)).toBeLessThan(0.05);
  });
});

describe("at the borders", () => {
  test("a line that lies half outside covers half of its thickness", () => {
    for (const [y, inside] of [
      [0, 0],
      [5, 4],
    ]) {
      const field = new LineField(4, 5);
      field.add(y, y, 2, BLACK, 1);
      const covered = column(field.image(), 2);
      expect(covered[inside]).toBe(1);
      expect(sum(covered)).toBe(1);
    }
  });

  test("a line outside leaves no trace, not in another row or column either", () => {
    const field = new LineField(4, 5);
    for (const y of [-3, 8, 1000]) field.add(y, y, 2, [255, 255, 255], 1);
    expect(field.image().data.every((value) => value === 0)).toBe(true);
  });

  test("a curve that comes from outside is cut off where it enters", () => {
    const field = new LineField(60, 40);
    field.add(-30, 30, 2, BLACK, 1);
    const image = field.image();
    for (let x = 0; x < 60; x++) {
      const y = curve(-30, 30, (x + 0.5) / 60);
      const covered = sum(column(image, x));
      if (y < -3) expect(covered).toBe(0);
      if (y > 4) expect(covered).toBeGreaterThan(1.9);
    }
  });
});

describe("lines on top of each other", () => {
  /** The pixel that flat lines of these colours and opacities give. */
  function pixel(...lines: readonly (readonly [number, number, number, number])[]): number[] {
    const field = new LineField(2, 3);
    for (const [r, g, b, opacity] of lines) field.add(1.5, 1.5, 1, [r, g, b], opacity);
    return [...field.image().data.slice(2 * 4, 3 * 4)];
  }

  test("add up", () => {
    expect(pixel([0, 0, 0, 0.2])[3]).toBe(51);
    expect(pixel([0, 0, 0, 0.2], [0, 0, 0, 0.4])[3]).toBe(153);
  });

  test("are opaque from a sum of one", () => {
    expect(pixel([0, 0, 0, 0.6], [0, 0, 0, 0.7])[3]).toBe(255);
  });

  test("have the mean of their colours, weighted by opacity", () => {
    expect(pixel([240, 0, 40, 0.2], [0, 80, 40, 0.6])).toEqual([60, 60, 40, 204]);
    // The mean stays the mean where the opacity is cut off at one.
    expect(pixel([240, 0, 40, 0.5], [0, 80, 40, 1.5])).toEqual([60, 60, 40, 255]);
  });

  test("keep a thickness each", () => {
    const field = new LineField(3, 20);
    field.add(5, 5, 1, BLACK, 1);
    field.add(15, 15, 4, BLACK, 1);
    const covered = column(field.image(), 1);
    expect(sum(covered.slice(0, 10))).toBeCloseTo(1, 2);
    expect(sum(covered.slice(10))).toBeCloseTo(4, 2);
  });

  test("of no opacity at all stay clear", () => {
    expect(pixel([255, 255, 255, 0])).toEqual([0, 0, 0, 0]);
  });
});

test("a thin steep line is as opaque in every row, without gaps", () => {
  const [width, height, thickness] = [90, 360, 0.9];
  const field = new LineField(width, height);
  field.add(340, 20, thickness, BLACK, 1);
  const { data } = field.image();
  for (let y = 120; y < 240; y++) {
    const row = Array.from({ length: width }, (_, x) => data[(y * width + x) * 4 + 3] / 255);
    const t = row.indexOf(Math.max(...row)) / width;
    const expected = thickness * Math.sqrt(1 + 1 / slope(340, 20, t, width) ** 2);
    expect(Math.abs(sum(row) - expected)).toBeLessThan(0.05);
    // A line on the border of two pixels is about as strong as one in the middle of a pixel.
    expect(Math.max(...row)).toBeGreaterThan(0.45);
    expect(Math.max(...row)).toBeLessThan(0.65);
  }
});

test("pixels that are as one have the mean of what each of them would have", () => {
  const [width, height] = [61, 40];
  const [fine, coarse] = [1, 2].map((stretch) => {
    const field = new LineField(width, height, undefined, stretch);
    field.add(4, 33, 2, BLACK, 0.5);
    field.add(30, 8, 1.5, BLACK, 0.3);
    return field.image();
  });
  for (let x = 0; x + 1 < width; x += 2) {
    expect(column(coarse, x)).toEqual(column(coarse, x + 1));
    const [left, right] = [column(fine, x), column(fine, x + 1)];
    // Between two columns a curve moves by less than a pixel here.
    expect(Math.abs(sum(column(coarse, x)) - (sum(left) + sum(right)) / 2)).toBeLessThan(0.02);
    const between = (middle(left) + middle(right)) / 2;
    expect(Math.abs(middle(column(coarse, x)) - between)).toBeLessThan(0.1);
  }
});

test("lines that cover each other are dimmed alike", () => {
  const field = new LineField(2, 2);
  field.add(0.5, 0.5, 1, BLACK, 3);
  field.add(1.5, 1.5, 1, BLACK, 1);
  const [above, below] = column(field.image(), 0);
  // The mean of 2 falls to 0.45, and one line stays three times as opaque as the other.
  expect(Math.abs(above - 0.45 * 1.5)).toBeLessThan(0.01);
  expect(Math.abs(below - 0.45 * 0.5)).toBeLessThan(0.01);
});
