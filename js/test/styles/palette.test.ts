import { describe, expect, test } from "vitest";
import { alpha, luminance, palette, rgb } from "../../src/styles/palette.ts";
import { place } from "../support/place.ts";

test("luminance is that of WCAG 2", () => {
  expect(luminance([0, 0, 0])).toBe(0);
  expect(luminance([255, 255, 255])).toBeCloseTo(1, 9);
  expect(luminance([255, 0, 0])).toBeCloseTo(0.2126, 9);
  expect(luminance([0, 255, 0])).toBeCloseTo(0.7152, 9);
  expect(luminance([0, 0, 255])).toBeCloseTo(0.0722, 9);
  expect(luminance([128, 128, 128])).toBeCloseTo(0.21586, 5);
  expect(luminance([10, 10, 10])).toBeCloseTo(0.003035, 6);
});

test("colours take any form that is needed", () => {
  expect(rgb("#4e79a7")).toEqual([0x4e, 0x79, 0xa7]);
  expect(rgb("#000001")).toEqual([0, 0, 1]);
  const probe = place(document.createElement("div"));
  probe.style.background = alpha("#4e79a7", 0.25);
  expect(getComputedStyle(probe).backgroundColor).toBe("rgba(78, 121, 167, 0.25)");
});

describe.for([
  { name: "light", dark: false },
  { name: "dark", dark: true },
])("the $name palette", ({ dark }) => {
  const colors = palette(dark);

  test("is what it is called", () => {
    expect(colors.dark).toBe(dark);
    expect(luminance(rgb(colors.background)) < 0.2).toBe(dark);
  });
});
