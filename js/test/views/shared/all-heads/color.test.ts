/** Colours for numbers and layers can be told apart, and from what is behind them. */

import { describe, expect, test } from "vitest";
import { luminance, palette, rgb } from "../../../../src/styles/palette.ts";
import { layerColor, ramp } from "../../../../src/views/shared/all-heads/color.ts";

const contrast = (a: string, b: string) => {
  const [low, high] = [luminance(rgb(a)), luminance(rgb(b))].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

describe.for([false, true])("dark: %s", (dark) => {
  const colors = palette(dark);

  test("the ramp goes steadily away from the background", () => {
    const steps = Array.from({ length: 21 }, (_, n) =>
      contrast(ramp(n / 20, colors), colors.paper),
    );
    expect(steps[0]).toBeGreaterThanOrEqual(3);
    steps.slice(1).forEach((step, n) => {
      expect(step).toBeGreaterThan(steps[n]);
    });
  });

  test("what lies outside of the ramp has the colour of its end", () => {
    expect([ramp(-1, colors), ramp(2, colors)]).toEqual([ramp(0, colors), ramp(1, colors)]);
  });

  test("thirty layers have colours of their own", () => {
    const layers = Array.from({ length: 30 }, (_, n) => layerColor(n, colors));
    for (const color of layers) {
      expect(contrast(color, colors.paper)).toBeGreaterThanOrEqual(3);
    }
    layers.forEach((a, n) => {
      for (const b of layers.slice(n + 1)) {
        const [x, y] = [rgb(a), rgb(b)];
        expect(Math.hypot(...x.map((part, at) => part - y[at]))).toBeGreaterThan(16);
      }
    });
  });
});
