/** The minimap of a long column: a strip of the whole text, and a funnel to its labels. */

import type { ReadonlySignal } from "@preact/signals-core";
import { paintCanvas, strokeBox } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import type { ListWindow } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { alpha, type Palette } from "../../styles/palette.ts";
import type { Axis } from "./axes.ts";
import { type Column, MINIMAP_WIDTH } from "./columns.ts";
import { FAINTEST, shadeOf } from "./ribbons.ts";

export interface MinimapOptions {
  readonly axis: Axis;
  readonly palette: ReadonlySignal<Palette>;
  readonly window: ListWindow;
  readonly column: Column;
  readonly length: number;
  readonly horizontal: boolean;
  readonly focused: ReadonlySignal<readonly number[]>;
  readonly locked: ReadonlySignal<readonly number[]>;
  readonly found: ReadonlySignal<readonly number[]>;
  /** The weights between the focused tokens and the units here, by matrix; or null. */
  readonly weights: ReadonlySignal<readonly Float32Array[] | null>;
  readonly colors: ReadonlySignal<readonly string[]>;
  /** Called with the unit under the pointer, or null. */
  pointAt(unit: number | null): void;
}

/** The widths of the strip and of the funnel. */
const STRIP = 12;
const FUNNEL = MINIMAP_WIDTH - STRIP;

/** The least height of the bracket. */
const LOWEST = 6;

/** The distance from the pointer, in CSS pixels, in which the strongest unit counts as hovered. */
const NEAR = 2;

export function minimap(scope: Scope, options: MinimapOptions): HTMLElement {
  const { axis, window, length, horizontal, palette } = options;
  const { side, shown, places } = axis;
  const { labels, ends } = options.column;
  const marks = el("canvas");
  const lines = el("canvas", { class: "overlay" });
  const strip = el("div", { class: "strip" });
  const attributes = { class: `minimap ${side}`, "aria-hidden": "true" };
  const element = el("div", attributes, marks, lines, strip);
  const size: [number, number] = horizontal ? [length, MINIMAP_WIDTH] : [MINIMAP_WIDTH, length];
  [element.style.width, element.style.height] = size.map((pixels) => `${pixels}px`);
  strip.style[horizontal ? "height" : "width"] = `${STRIP}px`;

  /** Paint from the labels, on the left, to the lines; transformed for other layouts. */
  const paintUpright = (canvas: HTMLCanvasElement, paint: (painter: Painter) => void) =>
    paintCanvas(canvas, ...size, (painter) => {
      if (horizontal) painter.transform(0, 1, 1, 0, 0, 0);
      if (side === "key") painter.transform(-1, 0, 0, 1, MINIMAP_WIDTH, 0);
      paint(painter);
    });
  const curve = (painter: Painter, from: number, to: number) => {
    painter.moveTo(0, from);
    painter.bezierCurveTo(FUNNEL / 2, from, FUNNEL / 2, to, FUNNEL, to);
  };

  scope.effect(() => paintUpright(marks, paintMarks));
  scope.effect(() => paintUpright(lines, paintLines));

  function paintMarks(painter: Painter): void {
    const { border, accent, highlight, muted } = palette.value;
    const [first, end] = window.sight.value;
    const [from, below] = [ends.start(first), ends.start(end - 1) + ends.size(end - 1)];
    const to = Math.max(below, from + LOWEST);
    // Translucent, since it may be on a panel.
    painter.fillStyle = alpha(muted, 0.09);
    painter.fillRect(FUNNEL, 0, STRIP, length);
    painter.beginPath();
    curve(painter, 0, from);
    painter.lineTo(FUNNEL, to);
    painter.bezierCurveTo(FUNNEL / 2, to, FUNNEL / 2, length, 0, length);
    painter.fill();
    painter.strokeStyle = border;
    painter.beginPath();
    curve(painter, 0, from);
    curve(painter, length, to);
    painter.stroke();
    painter.fillStyle = highlight;
    painter.fillRect(FUNNEL, from, STRIP, to - from);
    painter.fillStyle = muted;
    for (const at of axis.borders) painter.fillRect(FUNNEL, ends.start(at) - 0.5, STRIP, 1);
    painter.fillStyle = alpha(accent, 0.8);
    tick(painter, options.found.value, FUNNEL + STRIP / 2, STRIP / 2, 1.5);
    strokeBox(painter, [FUNNEL, from, STRIP, to - from], accent, { out: -0.75, line: 1.5 });
    painter.fillStyle = accent;
    tick(painter, options.locked.value, FUNNEL, STRIP, 3);
  }

  function paintLines(painter: Painter): void {
    const [first, end] = window.sight.value;
    const start = window.start.value;
    const inSight = (at: number) => at >= first && at < end;
    const { weights, colors } = options;
    if (weights.value) {
      for (let at = first; at < end; at++) {
        const [weight, matrix] = strongestAt(weights.value, shown[at]);
        if (weight < FAINTEST) continue;
        painter.strokeStyle = alpha(colors.value[matrix], shadeOf(Math.min(1, weight)));
        painter.lineWidth = 1.2 + 3 * Math.min(1, weight);
        painter.beginPath();
        curve(painter, labels.middle(at) - start, ends.middle(at));
        painter.stroke();
      }
    }
    painter.strokeStyle = painter.fillStyle = palette.value.text;
    painter.lineWidth = 1.5;
    painter.beginPath();
    for (const unit of options.focused.value) {
      const at = places[unit];
      if (inSight(at)) curve(painter, labels.middle(at) - start, ends.middle(at));
    }
    painter.stroke();
    tick(painter, options.focused.value, FUNNEL, STRIP, 2);
  }

  /** @param high the thickness of a tick */
  function tick(
    painter: Painter,
    units: readonly number[],
    left: number,
    width: number,
    high: number,
  ) {
    let last = Number.NEGATIVE_INFINITY;
    for (const unit of units) {
      if (places[unit] < 0) continue;
      const middle = ends.middle(places[unit]);
      // Skip ticks at the same pixel.
      if (Math.abs(middle - last) < 0.5) continue;
      painter.fillRect(left, middle - high / 2, width, high);
      last = middle;
    }
  }

  /** The strongest of the units that share a pixel. */
  function strongestNear(place: number): number {
    const nearest = ends.at(place);
    const met = options.weights.peek();
    if (!met) return nearest;
    let [best, most] = [nearest, strongestAt(met, shown[nearest])[0]];
    for (let at = ends.at(place - NEAR); at <= ends.at(place + NEAR); at++) {
      const [weight] = strongestAt(met, shown[at]);
      if (weight > most) [best, most] = [at, weight];
    }
    return best;
  }
  bindStripPointer(
    strip,
    (x, y, pressed) => {
      const place = horizontal ? x : y;
      const at = strongestNear(place);
      if (pressed) window.align(ends.at(place), place);
      options.pointAt(shown[at]);
    },
    () => options.pointAt(null),
  );

  return element;
}

/** The largest weight of a unit over all matrices, and its matrix. */
function strongestAt(met: readonly Float32Array[], unit: number): [weight: number, matrix: number] {
  let matrix = 0;
  for (let n = 1; n < met.length; n++) if (met[n][unit] > met[matrix][unit]) matrix = n;
  return [met[matrix][unit], matrix];
}

/** Call `point` with the pointer's position in the strip, in CSS pixels, and if it is pressed. */
export function bindStripPointer(
  strip: HTMLElement,
  point: (x: number, y: number, pressed: boolean) => void,
  leave: () => void,
): void {
  let pressed = false;
  const pointed = (event: PointerEvent) => {
    const { left, top } = strip.getBoundingClientRect();
    point(event.clientX - left, event.clientY - top, pressed);
  };
  strip.addEventListener("pointermove", pointed);
  strip.addEventListener("pointerdown", (event) => {
    strip.setPointerCapture(event.pointerId);
    pressed = true;
    pointed(event);
  });
  for (const end of ["pointerup", "pointercancel"] as const) {
    strip.addEventListener(end, () => {
      pressed = false;
    });
  }
  strip.addEventListener("pointerleave", leave);
}
