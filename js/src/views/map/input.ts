/** The points that the pointer and the keyboard mean, and the rectangle that the reader drags. */

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

/** The point to which a key moves, of those in the order of the model; null for none. */
export function pointAfter(
  points: readonly Point[],
  current: Point | null,
  key: string,
): Point | null {
  if (key === "Home") return points[0] ?? null;
  if (key === "End") return points.at(-1) ?? null;
  // The current head may have no place.
  if (!current) return key.startsWith("Arrow") ? (points[0] ?? null) : null;
  return pointBeyond(points, current, key);
}

export type PlaceOf = (event: MouseEvent) => readonly [x: number, y: number];

/**
 * Let the reader drag a rectangle with Shift. Returns a function that is true from its beginning
 * until after the click with which it ends.
 *
 * @param brush gets the rectangle, and null at its end
 */
export function bindBrush(
  stage: HTMLElement,
  placeOf: PlaceOf,
  brush: (box: Frame | null) => void,
): () => boolean {
  let start: readonly [x: number, y: number] | null = null;
  let brushed = false;
  stage.addEventListener("pointerdown", (event) => {
    if (!event.shiftKey || event.button !== 0) return;
    start = placeOf(event);
    stage.setPointerCapture(event.pointerId);
    // Or text would be selected.
    event.preventDefault();
    stage.focus();
  });
  stage.addEventListener("pointermove", (event) => {
    if (!start) return;
    const [from, to] = [start, placeOf(event)];
    const ends = (side: 0 | 1) => [from[side], to[side]].sort((a, b) => a - b);
    const [[left, right], [top, bottom]] = [ends(0), ends(1)];
    brush({ left, top, right, bottom });
  });
  const end = () => {
    if (!start) return;
    start = null;
    brushed = true;
    brush(null);
    // The click event comes after this.
    setTimeout(() => {
      brushed = false;
    });
  };
  stage.addEventListener("pointerup", end);
  stage.addEventListener("pointercancel", end);
  return () => start !== null || brushed;
}
