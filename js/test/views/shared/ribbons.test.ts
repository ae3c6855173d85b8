/** The ribbons of several focused tokens. */

import { expect, test } from "vitest";
import type { Painter } from "../../../src/painting/painter.ts";
import { uniformTrack } from "../../../src/parts/track.ts";
import { axesOf } from "../../../src/views/shared/axes.ts";
import { strokeRibbons } from "../../../src/views/shared/ribbons.ts";
import { stateOf } from "../../support/choices.ts";
import { noisyLayer } from "../../support/layers.ts";

const ROW = 20;

/** A painter that keeps the ends, the width and the colour of every curve. */
function recorder() {
  const curves: { from: number; to: number; width: number; color: string }[] = [];
  let from = 0;
  let to = 0;
  const painter = {
    lineWidth: 0,
    strokeStyle: "",
    beginPath() {},
    fillRect() {},
    moveTo(_x: number, y: number) {
      from = y;
    },
    bezierCurveTo(...ends: number[]) {
      to = ends[5];
    },
    stroke() {
      curves.push({ from, to, width: painter.lineWidth, color: painter.strokeStyle });
    },
  };
  return { painter: painter as unknown as Painter, curves };
}

test("each token has ribbons as strong as its own weights", () => {
  const { stack } = noisyLayer(3);
  const axes = axesOf(stateOf(), stack);
  const [a, b] = [Float32Array.of(0.9, 0.1, 0), Float32Array.of(0.3, 0, 0.7)];
  const weights = a.map((weight, at) => weight + b[at]);
  const { painter, curves } = recorder();
  const track = uniformTrack(3, ROW);
  strokeRibbons(painter, {
    axes,
    tracks: { query: track, key: track },
    across: 100,
    side: "query",
    series: [
      {
        color: "#112233",
        weights,
        parts: [
          { from: 0, weights: a },
          { from: 2, weights: b },
        ],
      },
    ],
  });
  const row = (y: number) => Math.floor(y / ROW);
  expect(curves.map(({ from, to }) => [row(from), row(to)])).toEqual([
    [0, 0],
    [2, 0],
    [0, 1],
    [2, 2],
  ]);
  const [first, second, , last] = curves;
  expect(first.width / second.width).toBeCloseTo(3);
  expect(last.width / second.width).toBeCloseTo(7 / 3);
  expect(new Set(curves.map(({ color }) => color)).size).toBe(4);
  // Side by side where they meet.
  expect(second.to - first.to).toBeCloseTo((first.width + second.width) / 2);
});
