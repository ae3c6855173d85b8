/** The places on the map, and what lies near them. */

import { describe, expect, test } from "vitest";
import type { Metric } from "../../../src/data/manifest.ts";
import { textMeasure } from "../../../src/parts/text.ts";
import { palette } from "../../../src/styles/palette.ts";
import { nullRange, placingOf } from "../../../src/views/map/heads.ts";
import { pointBeyond, pointNear } from "../../../src/views/map/input.ts";
import {
  covers,
  groupName,
  LABEL_FONT,
  notableLabels,
  overlap,
} from "../../../src/views/map/labels.ts";
import { mapLayout, type Point, scaleOf } from "../../../src/views/map/layout.ts";
import { paintOverlay } from "../../../src/views/map/paint.ts";
import { allHeads, rowsOf } from "../../../src/views/shared/all-heads/heads.ts";
import { stateOf } from "../../support/choices.ts";
import { OVERVIEW } from "../../support/vectors.ts";

const NOTHING = { ranges: [null, null], size: null, withNull: true, linked: false } as const;

/** A layer of so many heads, and metrics with these numbers. */
function madeUp(...numbers: readonly (readonly (number | null)[])[]) {
  const state = stateOf();
  const stack = state.shown.stack.value;
  const layer = { ...stack.layers[0], heads: numbers[0].length };
  const heads = allHeads(rowsOf({ ...stack, layers: [layer] }, null));
  const metrics = numbers.map((values, at): Metric => {
    const [metric] = state.shown.metrics.value;
    return { ...metric, name: `metric ${at}`, values: new Map([[layer, values]]) };
  });
  return { layer, heads, metrics };
}

describe("a scale", () => {
  test.for([
    { range: [0, 2], ticks: [0, 0.5, 1, 1.5, 2], digits: 1 },
    { range: [-9, -1], ticks: [-9, -8, -7, -6, -5, -4, -3, -2, -1], digits: 0 },
    { range: [0.031, 0.042], ticks: [0.032, 0.034, 0.036, 0.038, 0.04, 0.042], digits: 3 },
    { range: [3, 3], ticks: [2.9, 2.95, 3, 3.05, 3.1], digits: 2 },
  ] as const)("has round ticks from $range", ({ range, ticks, digits }) => {
    const scale = scaleOf(range, [0, 600], 60);
    expect(scale.digits).toBe(digits);
    for (const [at, tick] of scale.ticks.entries()) expect(tick).toBeCloseTo(ticks[at], 9);
    expect(scale.ticks.length).toBe(ticks.length);
    for (const value of range) {
      expect(scale.at(value)).toBeGreaterThanOrEqual(0);
      expect(scale.at(value)).toBeLessThanOrEqual(600);
    }
  });
});

test("the metrics are those that are chosen, or else the first two of the stack", () => {
  const names = (stack: string, x: string, y: string) => {
    const { value } = stateOf({ stack }, OVERVIEW).shown.metrics;
    return placingOf(value, x, y, null).axes?.map(({ name }) => name);
  };
  expect(names("encoder", "distance", "entropy")).toEqual(["distance", "entropy"]);
  expect(names("cross", "distance", "entropy")).toEqual(["first", "entropy"]);
  expect(names("cross", "distance", "none")).toEqual(["entropy", "first"]);
  expect(names("cross", "special", "special")).toEqual(["special", "special"]);
});

test("a head without a value has no place; sizes go by magnitude", () => {
  const { heads, metrics } = madeUp([1, 2, null, 4], [1, 2, 3, 4], [0.5, -2, 3, 0]);
  const placing = placingOf(metrics, "metric 0", "metric 1", null);
  const { points } = mapLayout(600, 400, { ...NOTHING, heads, placing, size: metrics[2] });
  expect(points.map(({ head }) => head.head)).toEqual([1, 0, 3]);
  expect(points[0].radius).toBeGreaterThan(points[1].radius);
  const [at, other] = [points.find(({ head }) => head.head === 3), points[1]] as [Point, Point];
  expect(at.x).toBeGreaterThan(other.x);
  expect(at.y).toBeLessThan(other.y);
});

test("a head names those that share its keys", () => {
  const { layer } = madeUp([0]);
  const grouped = { ...layer, number: 18, heads: 9, key_heads: 3 };
  expect([0, 4, 8].map((head) => groupName({ layer: grouped, head }))).toEqual([
    "18-0…18-2",
    "18-3…18-5",
    "18-6…18-8",
  ]);
  expect(groupName({ layer: { ...grouped, key_heads: 9 }, head: 4 })).toBe("");
});

test("the null's range holds 95% of its numbers", () => {
  const { layer, heads, metrics } = madeUp([0, 0, 0, 0, 0]);
  const random = { label: "random weights", values: new Map([[layer, [4, 0, null, 1, 2]]]) };
  // The result of numpy.percentile([0, 1, 2, 4], [2.5, 97.5]).
  const [low, high] = nullRange({ ...metrics[0], null: random }, heads) ?? [];
  expect(low).toBeCloseTo(0.075, 12);
  expect(high).toBeCloseTo(3.85, 12);
  expect(nullRange(metrics[0], heads)).toBeNull();
});

test("the name of the head that is looked at covers no other point if there is room", () => {
  const { heads, metrics } = madeUp([1, 1.1, 0, 2], [1, 1, 0, 2]);
  const placing = placingOf(metrics, "metric 0", "metric 1", null);
  const layout = mapLayout(600, 400, { ...NOTHING, heads, placing });
  const [focused, other] = [0, 1].map((head) =>
    layout.points.find((point) => point.head.head === head),
  ) as [Point, Point];
  const painter = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  const written: [text: string, x: number, y: number][] = [];
  painter.fillText = (text, x, y) => written.push([text, x, y]);
  const chosen = { chosen: null, focused, nearest: [], off: [], brush: null, labels: [] };
  const look = { ...chosen, palette: palette(false), colorOf: () => "#000000" };
  paintOverlay(painter, layout, look);
  expect(written.length).toBe(1);
  const [[text, x, y]] = written;
  const label = { text, x, y, width: textMeasure(LABEL_FONT)(text) };
  expect(covers(label, focused)).toBe(false);
  expect(covers(label, other)).toBe(false);

  // It keeps off labels where it can, and those that its ring covers give way.
  const at = (x: number, y: number) => ({ text: "9-9", x, y, width: 20 });
  const labels = [at(focused.x - 4, focused.y), at(x, y), at(20, 200)];
  written.length = 0;
  paintOverlay(painter, layout, { ...look, labels });
  expect(written.map(([text]) => text)).toEqual([text, "9-9", "9-9"]);
  expect(written[0].slice(1)).not.toEqual([x, y]);
  expect(written.slice(1).map(([, left]) => left)).toEqual([x, 20]);
});

describe("among many points", () => {
  const many = Array.from({ length: 300 }, (_, n) => ((n * 7919) % 1000) / 1000);
  const { heads, metrics } = madeUp(many, [...many].reverse().map(Math.sqrt));
  const placing = placingOf(metrics, "metric 0", "metric 1", null);
  const layout = mapLayout(620, 500, { ...NOTHING, heads, placing });
  const { points, frame } = layout;

  test("labels cover neither each other nor other points", () => {
    const labels = notableLabels(layout);
    expect(labels.length).toBeGreaterThan(5);
    labels.forEach((label, at) => {
      expect(labels.slice(at + 1).some((other) => overlap(label, other))).toBe(false);
      const inside = points.filter(
        ({ x, y }) => x > label.x && x < label.x + label.width && Math.abs(y - label.y) < 6,
      );
      expect(inside).toEqual([]);
    });
  });

  test("the pointer means the nearest within reach", () => {
    for (const point of points.slice(0, 50)) {
      expect(pointNear(points, point.x + 0.1, point.y)).toBe(point);
    }
    expect(pointNear(points, frame.left - 40, frame.top - 40)).toBeNull();
  });

  test("arrows reach every point that lies in their direction of some other", () => {
    const reached = new Set<Point>([points[0]]);
    const waiting = [points[0]];
    for (let from = waiting.pop(); from; from = waiting.pop()) {
      for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
        const to = pointBeyond(points, from, key);
        if (!to || reached.has(to)) continue;
        reached.add(to);
        waiting.push(to);
      }
    }
    expect(reached.size).toBe(points.length);
  });
});
