/** The lines of the head view are its numbers, in pixels. */

import { expect, test } from "vitest";
import { headColors } from "../../../src/styles/head-colors.ts";
import { rgb } from "../../../src/styles/palette.ts";
import { eventually } from "../../support/eventually.ts";
import { drawn, find, mountApp, painted, pixel } from "../../support/mounted.ts";
import { LABELS, sum, weightAt } from "../../support/numbers.ts";
import { twoFrames } from "../../support/place.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

const COLORS = headColors(4, false).map(rgb);

/** Opacity of a line's pixel in the middle of a row, which lies between two of them, 0 to 255. */
const ink = (weight: number) => 255 * weight * Math.min(1, (0.9 + 1.6 * weight) / 2);

/** The colour at either end of the lines of a token, in the middle of its row. */
function ends(canvas: HTMLCanvasElement, at: number): number[][] {
  const { width, height } = canvas.getBoundingClientRect();
  const y = ((at + 0.5) * height) / LABELS.length;
  return [0, width - 1].map((x) => pixel(canvas, x, y));
}

test("begin and end at their tokens, in the colour of their head", async () => {
  // If each query has one key of its own, a token has the ends of that one line.
  const app = await mountApp({ choices: { heads: [2] } });
  await drawn(app);
  const canvas = find<HTMLCanvasElement>(app, "canvas.base");
  const [left] = ends(canvas, 3);
  const color = COLORS[2];
  left.slice(0, 3).forEach((value, n) => {
    expect(Math.abs(value - color[n])).toBeLessThanOrEqual(3);
  });
});

test("of several heads are as opaque as the strongest, in its colour above all", async () => {
  const app = await mountApp({ choices: { heads: [0, 3] } });
  await drawn(app);
  await twoFrames();
  // All lines of a query coincide at its end; for this one they stay less than opaque.
  const [left] = ends(find<HTMLCanvasElement>(app, "canvas.base"), 8);
  const pairs = LABELS.map((_, key) => [weightAt(0, 0, 8, key), weightAt(0, 3, 8, key)]);
  const inks = pairs.map((pair) => ink(Math.max(...pair)));
  expect(Math.abs(left[3] - sum(inks))).toBeLessThanOrEqual(2);
  for (const part of [0, 1, 2]) {
    const [a, b] = [COLORS[0][part], COLORS[3][part]];
    const colors = pairs.map(([v, w]) => (v ** 3 * a + w ** 3 * b) / (v ** 3 + w ** 3));
    const mean = sum(inks.map((opacity, n) => opacity * colors[n])) / sum(inks);
    expect(Math.abs(left[part] - mean)).toBeLessThanOrEqual(2);
  }
});

test("carry to every key what it gets, and from every query what it gives", async () => {
  const app = await mountApp({ choices: { heads: [0] } });
  await drawn(app);
  const canvas = find<HTMLCanvasElement>(app, "canvas.base");
  // Fainter ones are left out, as the legend says.
  const line = (query: number, key: number) => {
    const weight = weightAt(0, 0, query, key);
    return weight < 0.0005 ? 0 : ink(weight);
  };
  LABELS.forEach((_, at) => {
    const [from, to] = ends(canvas, at).map(([, , , opacity]) => opacity);
    const [given, got] = [
      sum(LABELS.map((_label, key) => line(at, key))),
      sum(LABELS.map((_label, query) => line(query, at))),
    ];
    expect(Math.abs(from - Math.min(255, given))).toBeLessThanOrEqual(3);
    expect(Math.abs(to - Math.min(255, got))).toBeLessThanOrEqual(3);
  });
});

test("follow the heads that are drawn", async () => {
  const app = await mountApp();
  await drawn(app);
  // Until the view has the size that it keeps.
  await twoFrames();
  const canvas = find<HTMLCanvasElement>(app, "canvas.base");
  const first = canvas.toDataURL();
  app.state.heads.value = [3];
  await eventually(() => expect(canvas.toDataURL() === first).toBe(false));
  app.state.heads.value = null;
  await eventually(() => expect(canvas.toDataURL() === first).toBe(true));
});

test("of the token looked at lie on top, with a strip of weights at the far end", async () => {
  const app = await mountApp({ choices: { heads: [1] } });
  await drawn(app);
  const overlay = find<HTMLCanvasElement>(app, ".lines canvas.overlay");
  expect(painted(overlay)).toBe(0);
  const { width, height } = overlay.getBoundingClientRect();
  const row = height / LABELS.length;
  /** True if the opacities down a strip at x are these weights, on an even ground. */
  const expectStrip = (x: number, weights: number[]) => {
    const shown = weights.map((_, at) => pixel(overlay, x, (at + 0.25) * row)[3] / 255);
    // Small weights can still be seen.
    const shades = weights.map((weight) => weight ** 0.75);
    const [least, most] = [Math.min(...weights), Math.max(...weights)].map((w) =>
      weights.indexOf(w),
    );
    const slope = (shown[most] - shown[least]) / (shades[most] - shades[least]);
    expect(slope).toBeGreaterThan(0.9);
    shades.forEach((shade, at) => {
      const expected = shown[least] + slope * (shade - shades[least]);
      expect(Math.abs(shown[at] - expected)).toBeLessThan(0.01);
    });
  };
  app.state.hover.value = { query: 4, key: null };
  expectStrip(
    width - 2,
    LABELS.map((_, key) => weightAt(0, 1, 4, key)),
  );
  app.state.hover.value = { query: null, key: 4 };
  expectStrip(
    2,
    LABELS.map((_, query) => weightAt(0, 1, query, 4)),
  );
  app.state.hover.value = null;
  expect(painted(overlay)).toBe(0);
});

test("of the token looked at have a strip per head that is drawn, in its colour", async () => {
  const app = await mountApp({ choices: { heads: [0, 1, 3] } });
  await drawn(app);
  const overlay = find<HTMLCanvasElement>(app, ".lines canvas.overlay");
  const { width, height } = overlay.getBoundingClientRect();
  app.state.hover.value = { query: 4, key: null };
  [0, 1, 3].forEach((head, n) => {
    const weights = LABELS.map((_, key) => weightAt(0, head, 4, key));
    const at = weights.indexOf(Math.max(...weights));
    // Nine pixels each, from left to right, up to the edge.
    const x = width - 9 * (3 - n) + 4;
    const color = pixel(overlay, x, ((at + 0.25) * height) / LABELS.length);
    COLORS[head].forEach((value, part) => {
      expect(Math.abs(color[part] - value)).toBeLessThanOrEqual(4);
    });
  });
});
