/** Colours of heads can be told apart, as far as colours go. */

import { describe, expect, test } from "vitest";
import { headColors, textOn } from "../../src/styles/head-colors.ts";
import { luminance, palette, type RGB, rgb } from "../../src/styles/palette.ts";

const contrast = (a: string, b: string) => {
  const [x, y] = [luminance(rgb(a)), luminance(rgb(b))];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};

/** Oklab (Ottosson 2020), a colour space in which distances are as large as they look. */
function oklab(color: RGB): RGB {
  const linear = color.map((c) => luminance([c, c, c]));
  const mix = (matrix: readonly RGB[], [x, y, z]: readonly number[]) =>
    matrix.map(([a, b, c]) => a * x + b * y + c * z);
  const cones = mix(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    linear,
  ).map(Math.cbrt);
  const [l, a, b] = mix(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  );
  return [l, a, b];
}

const distance = (a: string, b: string) => {
  const [p, q] = [oklab(rgb(a)), oklab(rgb(b))];
  return Math.hypot(...p.map((value, n) => value - q[n]));
};

const pairs = (colors: readonly string[]) =>
  colors.flatMap((a, n) => colors.slice(n + 1).map((b) => [a, b] as const));

test("distances are those of OKLab", () => {
  expect(distance("#ffffff", "#000000")).toBeCloseTo(1, 4);
  expect(distance("#ff0000", "#00ff00")).toBeCloseTo(0.5195, 3);
});

describe.for([
  { name: "light", dark: false },
  { name: "dark", dark: true },
])("on a $name background", ({ dark }) => {
  const { background } = palette(dark);

  test.for([1, 4, 12, 13, 32, 33, 64, 100])("each of %i heads can be seen", (count) => {
    const colors = headColors(count, dark);
    expect(colors.length).toBe(count);
    // WCAG 2, level AA: 3 for what is not text.
    for (const color of colors) expect(contrast(color, background)).toBeGreaterThanOrEqual(3);
  });

  test("32 heads can be told apart", () => {
    const distances = pairs(headColors(32, dark)).map(([a, b]) => distance(a, b));
    // Twice what is just noticed side by side.
    expect(Math.min(...distances)).toBeGreaterThan(0.04);
  });

  test("the first twelve are the same whatever the layer's number of heads is, and the theme", () => {
    const few = headColors(12, !dark);
    for (const count of [12, 20, 32]) expect(headColors(count, dark).slice(0, 12)).toEqual(few);
  });

  test.for([33, 40, 64, 128])("%i heads are families of neighbours", (count) => {
    const colors = headColors(count, dark);
    expect(new Set(colors).size).toBe(count);
    const size = Math.ceil(count / 12);
    const first = headColors(12, dark);
    // Each begins with a colour of its own, and goes on from it in shades.
    colors.forEach((color, head) => {
      if (head % size === 0) expect(color).toBe(first[head / size]);
      else {
        const [own, before] = [luminance(rgb(color)), luminance(rgb(colors[head - 1]))];
        expect(dark ? own > before : own < before).toBe(true);
      }
    });
  });

  test.for([12, 32, 64])("the number of each of %i heads can be read on it", (count) => {
    for (const color of headColors(count, dark)) {
      // Text: 4.5.
      expect(contrast(textOn(color), color)).toBeGreaterThanOrEqual(4.5);
    }
  });
});
