/** The layout of the map and its scales, in CSS pixels. */

import type { Range } from "../../basics/extremes.ts";
import { largestOf, smallestOf } from "../../basics/extremes.ts";
import { type Head, type Metric, metricValue, type Position } from "../../data/manifest.ts";
import { fontOf, number, roundStep, textMeasure } from "../../parts/text.ts";
import type { Placing } from "./heads.ts";

/** A head at its place. */
export interface Point {
  readonly head: Head;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export type MapLayout = ReturnType<typeof mapLayout>;

const TOP = 8;
const RIGHT = 16;
/** The ticks with the title of the axis, the space of a frame without them, and the legend. */
const BELOW = { axes: 48, frame: 8, legend: 32 } as const;
/** The title of the vertical axis, and the space around its numbers. */
const TITLE = 22;
const GAP = 8;
/** The least distance of two ticks. */
const TICKS = [64, 56] as const;
/** The radius of a point of the largest magnitude, and the least radius with sizes. */
const RADII = [3, 13] as const;
/** The shares of the largest magnitude in the legend. */
const LEGEND = [0.05, 0.25, 1] as const;

interface MapContent {
  readonly heads: readonly Head[];
  readonly placing: Placing;
  /** The null's ranges on both axes; null where there is none, or it is left out. */
  readonly ranges: readonly [x: Range | null, y: Range | null];
  /** The metric whose magnitude is the points' size; null for points of one size. */
  readonly size: Metric | null;
  /** False to leave out the null. */
  readonly withNull: boolean;
  /** True if links are drawn, which the legend explains. */
  readonly linked: boolean;
}

export function mapLayout(width: number, height: number, content: MapContent) {
  const { heads, placing, ranges, size, withNull, linked } = content;
  const placed = heads.flatMap((head) => {
    const place = placing.placeOf(head);
    return place ? [{ head, place }] : [];
  });
  const nulls = withNull ? heads.map(placing.nullPlaceOf).filter((place) => place !== null) : [];
  const places = [...placed.map(({ place }) => place), ...nulls];
  const legend = size || nulls.length || ranges.some(Boolean) || linked ? BELOW.legend : 0;
  const { frame, scales, at } = placing.axes
    ? withAxes(width, height - legend - BELOW.axes, places, ranges)
    : withoutAxes(width, height - legend - BELOW.frame, places);
  const magnitude = (head: Head) => Math.abs((size && metricValue(size, head)) ?? 0);
  const most = Math.max(0, largestOf(heads.map(magnitude)));
  const radius = (value: number) => RADII[0] + (RADII[1] - RADII[0]) * Math.sqrt(value / most);
  const alike = Math.min(6.5, Math.max(2.5, 90 / Math.sqrt(heads.length)));
  return {
    ...content,
    width,
    height,
    /** The part with the points. */
    frame,
    /** Null for places by similarity. */
    scales,
    points: placed
      .map(({ head, place }) => {
        const [x, y] = at(place);
        return { head, x, y, radius: size && most ? radius(magnitude(head)) : alike };
      })
      // Small points stay visible on large ones.
      .sort((a, b) => b.radius - a.radius),
    /** The places of the null's heads; none while they are left out. */
    nulls: nulls.map(at),
    /** Magnitudes of the size with their radii, for the legend. */
    sizes: size && most ? LEGEND.map((share) => [share * most, radius(share * most)]) : [],
  };
}

const range = (places: readonly Position[], side: 0 | 1, others: Range | null = null): Range => {
  const values = [...places.map((place) => place[side]), ...(others ?? [])];
  return values.length ? [smallestOf(values), largestOf(values)] : [0, 1];
};

function withAxes(
  width: number,
  bottom: number,
  places: readonly Position[],
  ranges: MapContent["ranges"],
) {
  const y = scaleOf(range(places, 1, ranges[1]), [bottom, TOP], TICKS[1]);
  const measure = textMeasure(fontOf(12));
  const labels = y.ticks.map((tick) => measure(number(tick, y.digits)));
  const left = TITLE + GAP + Math.ceil(Math.max(0, ...labels));
  const right = width - RIGHT;
  const x = scaleOf(range(places, 0, ranges[0]), [left, right], TICKS[0]);
  return {
    frame: { left, top: TOP, right, bottom },
    scales: [x, y] as const,
    at: ([across, up]: Position): Position => [x.at(across), y.at(up)],
  };
}

/** Distances have one scale in both directions. */
function withoutAxes(width: number, bottom: number, places: readonly Position[]) {
  const frame = { left: 1, top: TOP, right: width - 1, bottom };
  const [[left, right], [low, high]] = [range(places, 0), range(places, 1)];
  const inside = 40;
  const [across, down] = [frame.right - frame.left, frame.bottom - frame.top];
  const scale = Math.min(
    (across - 2 * inside) / (right - left || 1),
    (down - 2 * inside) / (high - low || 1),
  );
  const middle = [(frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2];
  return {
    frame,
    scales: null,
    at: ([x, y]: Position): Position => [
      middle[0] + (x - (left + right) / 2) * scale,
      middle[1] - (y - (low + high) / 2) * scale,
    ],
  };
}

export type Scale = ReturnType<typeof scaleOf>;

/** The empty space on either side of the values, as a share of their range. */
const MARGIN = 0.04;

/**
 * A linear scale from numbers to CSS pixels, with round ticks.
 *
 * @param values one at least
 * @param start the place of the lowest end, in CSS pixels, and `end` that of the highest
 * @param distance the least distance of two ticks
 */
export function scaleOf(
  [least, most]: readonly [number, number],
  [start, end]: readonly [number, number],
  distance: number,
) {
  // Equal values stand in the middle.
  const range = most - least || Math.abs(most) || 1;
  const [low, high] = [least - MARGIN * range, most + MARGIN * range];
  const step = roundStep(((high - low) * distance) / Math.abs(end - start));
  const ticks: number[] = [];
  for (let n = Math.ceil(low / step); n * step <= high; n++) ticks.push(n * step);
  return {
    ticks,
    /** The decimals that tell the ticks apart. */
    digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)),
    /** The place of a value in CSS pixels. */
    at: (value: number) => start + ((value - low) / (high - low)) * (end - start),
  };
}
