/** The pointer and the keyboard on the map, and the point that either means. */

import type { Frame, Point } from "./layout.ts";

export interface PointerActions {
  /** The point at a place; null for none. */
  at(x: number, y: number): Point | null;
  /** Called for every move; null where there is no point. */
  hover(point: Point | null): void;
  /** Called with null for a click beside all points. */
  click(point: Point | null): void;
  /** Called for a click with Alt: switches the head off, or on again. */
  switchOff(point: Point): void;
  /** Called after one `click`. */
  doubleClick(point: Point): void;
  /** Called while the reader drags a rectangle, and with null at its end. */
  brush(box: Frame | null): void;
}

/** @param canvas shows by its cursor where points are */
export function bindMapPointer(
  stage: HTMLElement,
  canvas: HTMLElement,
  actions: PointerActions,
): void {
  let start: readonly [x: number, y: number] | null = null;
  let brushed = false;
  let clicked: Point | null = null;
  const placeOf = ({ clientX, clientY }: MouseEvent) => {
    const { left, top } = stage.getBoundingClientRect();
    return [clientX - left, clientY - top] as const;
  };
  stage.addEventListener("pointerdown", (event) => {
    brushed = false;
    if (!event.shiftKey || event.button !== 0) return;
    start = placeOf(event);
    stage.setPointerCapture(event.pointerId);
    // Or text would be selected.
    event.preventDefault();
    stage.focus();
  });
  stage.addEventListener("pointermove", (event) => {
    const [x, y] = placeOf(event);
    if (start) {
      const [[left, right], [top, bottom]] = [
        [start[0], x],
        [start[1], y],
      ].map((ends) => ends.sort((a, b) => a - b));
      actions.brush({ left, top, right, bottom });
    } else if (event.pointerType !== "touch") {
      // A finger would hide the point that it hovers.
      const point = actions.at(x, y);
      canvas.style.cursor = point ? "pointer" : "";
      actions.hover(point);
    }
  });
  const end = () => {
    if (!start) return;
    start = null;
    brushed = true;
    actions.brush(null);
  };
  stage.addEventListener("pointerup", end);
  stage.addEventListener("pointercancel", end);
  stage.addEventListener("pointerleave", () => {
    if (!start) actions.hover(null);
  });
  stage.addEventListener("click", (event) => {
    // The end of a brush is no click, nor is the second of two.
    if (brushed || event.detail > 1) return;
    const point = actions.at(...placeOf(event));
    clicked = event.altKey ? null : point;
    if (!event.altKey) actions.click(point);
    else if (point) actions.switchOff(point);
  });
  stage.addEventListener("dblclick", () => {
    if (clicked) actions.doubleClick(clicked);
  });
}

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

export interface KeyActions {
  /** The points in the order of the model. */
  points(): readonly Point[];
  current(): Point | null;
  move(to: Point): void;
  enter(): void;
  /** Returns false if nothing is marked or looked at. */
  escape(): boolean;
}

export function bindMapKeys(stage: HTMLElement, actions: KeyActions): void {
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = pointAfter(event.key, actions);
    if (next) actions.move(next);
    else if (event.key === "Enter") actions.enter();
    else if (event.key === "Escape" && actions.escape()) event.stopPropagation();
    // An arrow past the last point must not scroll the page.
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
  });
}

function pointAfter(key: string, { points, current }: KeyActions): Point | null {
  const all = points();
  if (key === "Home") return all[0] ?? null;
  if (key === "End") return all.at(-1) ?? null;
  const from = current();
  // The current head may have no place.
  if (!from) return key.startsWith("Arrow") ? (all[0] ?? null) : null;
  return pointBeyond(all, from, key);
}
