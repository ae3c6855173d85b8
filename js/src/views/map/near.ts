/** Finds points near a place, in a direction, or within a rectangle. */

import type { Frame, Point } from "./layout.ts";

/** The farthest place from a point that still means it, in CSS pixels. */
const REACH = 16;

/** The nearest point whose middle, or edge, is in reach; null for none. */
export function pointNear(points: readonly Point[], x: number, y: number): Point | null {
  let [best, nearest]: [Point | null, number] = [null, Number.POSITIVE_INFINITY];
  for (const point of points) {
    const distance = Math.hypot(point.x - x, point.y - y);
    if (distance < nearest && distance <= Math.max(REACH, point.radius + 3)) {
      [best, nearest] = [point, distance];
    }
  }
  return best;
}

/** The steps of the arrow keys. */
const DIRECTIONS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The nearest point in the direction of an arrow key; null for other keys, and past the last. */
export function pointBeyond(points: readonly Point[], from: Point, key: string): Point | null {
  const direction = DIRECTIONS[key];
  if (!direction) return null;
  const [across, down] = direction;
  let [best, least]: [Point | null, number] = [null, Number.POSITIVE_INFINITY];
  for (const point of points) {
    const [x, y] = [point.x - from.x, point.y - from.y];
    const along = x * across + y * down;
    if (point === from || along <= 0) continue;
    // Points aside count as farther away.
    const cost = along + 2 * Math.abs(x * down + y * across);
    if (cost < least) [best, least] = [point, cost];
  }
  return best;
}

export const pointsWithin = (points: readonly Point[], { left, top, right, bottom }: Frame) =>
  points.filter(({ x, y }) => x >= left && x <= right && y >= top && y <= bottom);
