/** A matrix of weights, as a whole or zoomed, with a cross-hair on the focused cells. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { paintCanvas, paintPart } from "../../../painting/canvas.ts";
import { el, setAttributes } from "../../../parts/dom.ts";
import { perFrame } from "../../../scheduling/frame.ts";
import type { Scope } from "../../../scheduling/scope.ts";
import { release, toggleLock } from "../../../state/locks.ts";
import { headNow, toggleCut } from "../../../state/off.ts";
import { pointAt, type TokenPair } from "../../../state/state.ts";
import type { Palette } from "../../../styles/palette.ts";
import { type Axis, onSought, placeAt, placeOf } from "../axes.ts";
import { paintCuts } from "../cuts.ts";
import type { HeadContent } from "../heads/words.ts";
import { crossHair } from "./cross.ts";
import { bindGestures } from "./gestures.ts";
import { NAMES_FROM } from "./names.ts";
import { overviewBox, overviewPlace } from "./overview.ts";
import { matrixPlot } from "./plot.ts";
import { matrixTiles } from "./tiles.ts";
import { describe, matrixTitle } from "./title.ts";
import { centred, LARGEST_CELL, viewportOf } from "./viewport.ts";

export interface MatrixOptions
  extends Pick<HeadContent, "state" | "axes" | "focused" | "cuts" | "matrix"> {
  readonly palette: ReadonlySignal<Palette>;
  readonly title: ReadonlySignal<string>;
  readonly width: number;
  /** True to label the rows if the labels fit. */
  readonly labelsRows: boolean;
}

/** The space for labels above a matrix and to its left, in CSS pixels. */
const LABELS = 76;
/** The space for short labels or positions, and the least width for more beside a long text. */
const NARROW_LABELS = 48;
const WIDE_FROM = 300;
const FRAME = 1;

export function matrixView(scope: Scope, options: MatrixOptions): HTMLElement {
  const { state, palette, axes, matrix, focused, cuts, width } = options;
  const [rows, columns] = [axes.query.shown, axes.key.shown];
  const { left, top, available, zoomable } = marginsFor(options);
  const extent = { rows: rows.length, columns: columns.length, available };
  const viewport = computed(() => viewportOf(extent, zoomable ? state.zoom.value : null));
  const overview = overviewBox(extent, Math.min(left, top));
  const picture = el("canvas", { "aria-hidden": "true" });
  const cross = el("canvas", { class: "overlay", "aria-hidden": "true" });
  const stage = el("div", { class: "stage" }, picture, cross);
  const size = computed(() => {
    const { across, down } = viewport.value;
    return [left + across + 2 * FRAME, top + down + 2 * FRAME] as const;
  });
  const least = viewportOf(extent, null).cell * devicePixelRatio;
  const tiles = matrixTiles(scope, matrix, rows, columns, viewport, least);
  const gestures = zoomable
    ? bindGestures({
        stage,
        extent,
        viewport,
        zoom: state.zoom,
        pointOf,
        overviewAt: (point) => overviewPlace(overview, extent, point),
        kept,
      })
    : null;
  const words = computed(() => {
    const pooled = Math.ceil(1 / tiles.scale.value);
    return describe(axes, viewport.value, pooled, tiles.peak.value, matrix.value);
  });
  const title = matrixTitle(scope, options.title, words, viewport, gestures, width);
  const element = el("div", { class: "matrix" }, title, stage);
  element.style.maxWidth = `${width}px`;
  const plot = matrixPlot({ axes, matrix, palette, tiles, left, top, overview, extent });

  scope.effect(() => {
    const { value } = viewport;
    paintCanvas(picture, ...size.value, (painter) => {
      painter.translate(left + FRAME, top + FRAME);
      plot(painter, value);
      if (cuts.value.length)
        paintCuts(painter, palette.value, axes, value, cuts.value, matrix.value);
    });
  });
  scope.effect(() => {
    const { query, key } = focused.value;
    const placesOn = (axis: Axis, units: readonly number[]) => units.map((at) => axis.places[at]);
    const [down, across] = [placesOn(axes.query, query), placesOn(axes.key, key)];
    const hair = crossHair(viewport.value, down, across, palette.value);
    const [x, y, ...sides] = hair?.box ?? [0, 0, 0, 0];
    paintPart(cross, ...size.value, hair && [x + left + FRAME, y + top + FRAME, ...sides], (to) => {
      to.translate(left + FRAME, top + FRAME);
      hair?.paint(to);
    });
  });
  onSought(scope, state, show);
  scope.effect(() => {
    if (zoomable) stage.setAttribute("aria-description", words.value);
    stage.classList.toggle("zoomed", !viewport.value.isWhole);
  });
  if (zoomable) setAttributes(stage, { tabindex: 0, role: "group", "aria-label": "Matrix" });

  /** Move the viewport to a place that is not in it. */
  function show(place: TokenPair): void {
    if (viewport.value.isWhole) return;
    const { cell, row, column, across, down } = viewport.value;
    const on = (axis: Axis, from: number, length: number) => {
      const at = placeAt(axis, place[axis.side]);
      const inside = at < 0 || (at >= from && at + 1 <= from + length / cell);
      return inside ? from + length / cell / 2 : at + 0.5;
    };
    const to = [on(axes.query, row, down), on(axes.key, column, across)] as const;
    state.zoom.value = centred(extent, viewport.value, ...to);
  }

  function kept(): { x: number; y: number } | null {
    const [row, column] = [axes.query, axes.key].map((axis) =>
      placeAt(axis, state[axis.side].peek()),
    );
    return row < 0 || column < 0 ? null : { x: column + 0.5, y: row + 0.5 };
  }

  /** The position of the pointer, in CSS pixels from the first cell shown. */
  function pointOf(event: MouseEvent) {
    const box = picture.getBoundingClientRect();
    return { x: event.clientX - box.left - left - FRAME, y: event.clientY - box.top - top - FRAME };
  }

  function pairAt(event: MouseEvent): TokenPair | null {
    const [{ x, y }, { cell, row, column, across, down }] = [pointOf(event), viewport.peek()];
    if (x < 0 || y < 0 || x >= across || y >= down) return null;
    const query = rows[Math.floor(row + y / cell)];
    const key = columns[Math.floor(column + x / cell)];
    return query === undefined || key === undefined ? null : placeOf(axes, query, key);
  }

  const point = perFrame((place: TokenPair | null) => pointAt(state, place));
  scope.onEnd(point.cancel);
  stage.addEventListener("pointermove", (event) => {
    if (!gestures?.moving()) point(pairAt(event));
  });
  stage.addEventListener("pointerleave", () => {
    point.cancel();
    state.hover.value = null;
  });
  stage.addEventListener("click", (event) => {
    const place = gestures?.moving() ? null : pairAt(event);
    if (!place) return;
    if (event.altKey) {
      pointAt(state, place);
      toggleCut(state, headNow(state));
      return;
    }
    // Any token of a word may be locked.
    const lockedUnit = ({ side, units }: Axis) => units.of[state[side].peek() ?? -1];
    const same =
      lockedUnit(axes.query) === axes.query.units.of[place.query as number] &&
      lockedUnit(axes.key) === axes.key.units.of[place.key as number];
    if (same && !state.also.peek().length) release(state);
    else toggleLock(state, place);
  });

  return element;
}

/** The space for labels and for cells; a matrix without labels can be zoomed. */
function marginsFor({ axes, width, labelsRows }: MatrixOptions) {
  const most = Math.max(axes.query.shown.length, axes.key.shown.length);
  const withMargin = (left: number) => {
    const available = width - left - 2 * FRAME;
    return { left, top: LABELS, available, cell: Math.min(LARGEST_CELL, available / most) };
  };
  const margins = (labelsRows ? [LABELS, NARROW_LABELS, 0] : [0]).map(withMargin);
  const named = margins.find(({ cell }) => cell >= NAMES_FROM);
  if (named) return { ...named, zoomable: false };
  const wide = labelsRows && width >= WIDE_FROM;
  return { ...withMargin(wide ? LABELS : NARROW_LABELS), zoomable: true };
}
