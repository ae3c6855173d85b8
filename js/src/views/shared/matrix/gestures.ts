/** Zooms and moves a matrix: wheel, pinch, drag, double-click and keys. */

import type { ReadonlySignal, Signal } from "@preact/signals-core";
import type { Zoom } from "../../../state/state.ts";
import {
  centred,
  type Extent,
  moved,
  type Point,
  type Viewport,
  viewportOf,
  zoomed,
} from "./viewport.ts";

export interface GestureOptions {
  readonly stage: HTMLElement;
  readonly extent: Extent;
  readonly viewport: ReadonlySignal<Viewport>;
  readonly zoom: Signal<Zoom | null>;
  /** The position of the pointer, in CSS pixels from the first cell shown. */
  pointOf(event: MouseEvent): Point;
  /** The column (x) and row (y) at a point of the overview; null outside of it. */
  overviewAt(point: Point): Point | null;
  /** The column (x) and row (y) of the locked pair, or null. */
  kept(): Point | null;
}

export type Gestures = ReturnType<typeof bindGestures>;

/** Zoom factors of a key, a double-click, and a pixel of the wheel; pixels of a line. */
const STEP = 1.5;
const DOUBLE = 2.5;
const PER_PIXEL = 1.004;
const LINE = 30;

/** The distance in CSS pixels from which a press is a drag. */
const DRAG_FROM = 4;

/** The share of the viewport that an arrow key moves by. */
const ARROW = 0.25;

export function bindGestures(options: GestureOptions) {
  const { stage, extent, viewport, zoom, pointOf, overviewAt, kept } = options;
  const zoomBy = (factor: number, { x, y }: Point) => {
    zoom.value = zoomed(extent, viewport.peek(), factor, x, y);
  };
  const middle = (): Point => ({ x: viewport.peek().across / 2, y: viewport.peek().down / 2 });
  const move = (rows: number, columns: number) => {
    if (!viewport.peek().isWhole) zoom.value = moved(extent, viewport.peek(), rows, columns);
  };
  const nearer = () => {
    const [{ x, y }, to] = [middle(), kept()];
    const next = zoomed(extent, viewport.peek(), STEP, x, y);
    zoom.value = next && to ? centred(extent, viewportOf(extent, next), to.y, to.x) : next;
  };
  const further = () => zoomBy(1 / STEP, middle());
  const whole = () => {
    zoom.value = null;
  };

  stage.addEventListener(
    "wheel",
    (event) => {
      // Without a modifier, the wheel scrolls the page.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1);
      zoomBy(PER_PIXEL ** -Math.max(-200, Math.min(200, pixels)), pointOf(event));
    },
    { passive: false },
  );
  stage.addEventListener("dblclick", (event) => zoomBy(DOUBLE, pointOf(event)));
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { across, down, cell } = viewport.peek();
    const [rows, columns] = [(ARROW * down) / cell, (ARROW * across) / cell];
    const act = {
      "+": nearer,
      "=": nearer,
      "-": further,
      "0": whole,
      ArrowUp: () => move(-rows, 0),
      ArrowDown: () => move(rows, 0),
      ArrowLeft: () => move(0, -columns),
      ArrowRight: () => move(0, columns),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  /** The positions of the fingers, or of the pressed mouse. */
  const held = new Map<number, Point>();
  let from: Point | null = null;
  let dragging = false;
  let overview = false;
  const jump = (point: Point) => {
    const to = overviewAt(point);
    if (to) zoom.value = centred(extent, viewport.peek(), to.y, to.x);
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const place = pointOf(event);
    held.set(event.pointerId, place);
    from = place;
    dragging = held.size > 1;
    overview = !dragging && overviewAt(place) !== null;
    if (overview) {
      dragging = true;
      stage.setPointerCapture(event.pointerId);
      jump(place);
    }
  });
  stage.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (!before) return;
    const place = pointOf(event);
    if (overview) return jump(place);
    const [other] = [...held].filter(([id]) => id !== event.pointerId);
    if (other) {
      // One finger stays while the other moves.
      const [, { x, y }] = other;
      const apart = (one: Point) => Math.max(1, Math.hypot(one.x - x, one.y - y));
      zoomBy(apart(place) / apart(before), { x, y });
    } else {
      if (!dragging && from && !viewport.peek().isWhole) {
        dragging = Math.hypot(place.x - from.x, place.y - from.y) >= DRAG_FROM;
        if (dragging) stage.setPointerCapture(event.pointerId);
      }
      if (!dragging) return;
      const { cell } = viewport.peek();
      move((before.y - place.y) / cell, (before.x - place.x) / cell);
    }
    stage.classList.toggle("moving", dragging);
    held.set(event.pointerId, place);
  });
  const release = (event: PointerEvent) => {
    held.delete(event.pointerId);
    overview = false;
    stage.classList.remove("moving");
    // The click event at the end of a drag comes after this.
    if (!held.size) setTimeout(() => (dragging = held.size > 0 && dragging));
  };
  stage.addEventListener("pointerup", release);
  stage.addEventListener("pointercancel", release);
  /** True while the pointer moves the matrix instead of hovering it. */
  const moving = () => dragging;
  return { nearer, further, whole, moving };
}
