/** Pointer events on the map. */

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
