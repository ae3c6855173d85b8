/** WCAG 2, level AA, of every pair of colours in use: 4.5 for text, 3 for marks. */

import { describe, expect, test } from "vitest";
import { luminance, type Palette, palette, rgb } from "../../src/styles/palette.ts";

type Color = Exclude<keyof Palette, "dark" | "patterns">;
type Pair = readonly [front: Color, back: Color];

const TEXT: readonly Pair[] = [
  ["text", "background"],
  ["text", "panel"],
  ["text", "highlight"],
  ["muted", "background"],
  ["muted", "panel"],
  ["muted", "highlight"],
  ["onAccent", "accent"],
];

const MARKS: readonly Pair[] = [
  // Focused or selected elements.
  ["accent", "background"],
  ["accent", "panel"],
  ["accent", "highlight"],
  // Bars, dots, and the legend that explains them.
  ...(["positive", "negative", "neutral"] as const).flatMap((color): Pair[] => [
    [color, "background"],
    [color, "panel"],
    [color, "paper"],
  ]),
  ["ink", "background"],
  ["ink", "paper"],
  // Icons.
  ["muted", "background"],
];

function contrast(a: string, b: string): number {
  const [x, y] = [luminance(rgb(a)), luminance(rgb(b))];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

test("contrast is that of WCAG 2", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 9);
  expect(contrast("#ffffff", "#767676")).toBeCloseTo(4.54, 2);
  expect(contrast("#123456", "#123456")).toBe(1);
});

describe.for([
  { name: "light", dark: false },
  { name: "dark", dark: true },
])("in the $name theme", ({ dark }) => {
  const colors = palette(dark);

  test.for(TEXT)("%s is read on %s", ([front, back]) => {
    expect(contrast(colors[front], colors[back])).toBeGreaterThanOrEqual(4.5);
  });

  test.for(["background", "panel", "paper"] as const)("kinds of heads are seen on %s", (back) => {
    for (const color of colors.patterns) {
      expect(contrast(color, colors[back])).toBeGreaterThanOrEqual(3);
    }
  });

  test.for(MARKS)("%s is seen on %s", ([front, back]) => {
    expect(contrast(colors[front], colors[back])).toBeGreaterThanOrEqual(3);
  });
});
