/** The points of the map, with the detail of the head that is looked at beside them. */

import { batch, computed, signal } from "@preact/signals-core";
import { type Head, layerOf } from "../../data/manifest.ts";
import { headPlace } from "../../data/pairing.ts";
import { paintCanvas } from "../../painting/canvas.ts";
import { el, setAttributes } from "../../parts/dom.ts";
import { perFrame } from "../../scheduling/frame.ts";
import { sameHead } from "../shared/all-heads/heads.ts";
import { bindKeys, bindPointer } from "../shared/all-heads/input.ts";
import { described, headName, measured } from "../shared/all-heads/words.ts";
import type { Context } from "../shared/view.ts";
import { MOST_SIMILAR, mapDetail } from "./detail.ts";
import type { MapHeads } from "./heads.ts";
import { bindBrush, type PlaceOf, pointAfter, pointNear, pointsWithin } from "./input.ts";
import { notableLabels } from "./labels.ts";
import { type Frame, mapLayout, type Point } from "./layout.ts";
import { paintMap, paintOverlay } from "./paint.ts";

/** The least width for the detail beside the points, also with intervals, and their share there. */
const WIDE_FROM = 820;
const WITH_INTERVALS = 1000;
const SHARE = 0.57;
const GAP = 40;
/** The bounds of the height of the points, and their share of the width where that is narrow. */
const HEIGHTS = [320, 660] as const;
const NARROW = 0.8;

/** Build points and detail. A signal that is read here replaces them by others when it changes. */
export function mapStage(
  context: Context,
  map: MapHeads,
  width: number,
  height: number,
): HTMLElement {
  const { scope, state, store, palette } = context;
  const { placing, size, current, focused, marked, coloring, rangeOf } = map;
  const wide = width >= (store.manifest.texts === null ? WIDE_FROM : WITH_INTERVALS);
  const across = wide ? Math.floor(width * SHARE) : width;
  const down = Math.min(Math.max(wide ? height : width * NARROW, HEIGHTS[0]), HEIGHTS[1]);
  const { axes, nullLabel } = placing.value;
  const withNull = state.nullShown.value && nullLabel !== null;
  const near = map.similarity.value;
  const layout = mapLayout(across, down, {
    heads: map.heads.value,
    placing: placing.value,
    ranges: axes && withNull ? [rangeOf(axes[0]), rangeOf(axes[1])] : [null, null],
    size: size.value,
    withNull,
    linked: near !== null,
  });
  const labels = notableLabels(layout);
  const points = new Map(layout.points.map((point) => [headPlace(point.head), point]));
  const pointOf = (head: Head) => points.get(headPlace(head)) ?? null;
  const stack = state.shown.stack.value;
  const headOf = (layer: number, head: number) => ({ layer: layerOf(stack, layer), head });
  const pointsOf = (places: readonly (readonly [layer: number, head: number, ...unknown[]])[]) =>
    places.map(([layer, head]) => pointOf(headOf(layer, head))).filter((point) => point !== null);
  // Another stack replaces all of this, but its heads may come first.
  let last = focused.peek();
  const lookedAt = computed(() => {
    if (stack.layers.includes(focused.value.layer)) last = focused.value;
    return last;
  });
  const brush = signal<Frame | null>(null);

  const base = el("canvas", { "aria-hidden": "true" });
  const above = el("canvas", { class: "overlay", "aria-hidden": "true" });
  const inOrder = map.heads.value.map(pointOf).filter((point) => point !== null);
  const options = new Map(inOrder.map((point) => [point, optionOf(point)]));
  const holder = el("div", { class: "options-of-map" }, ...options.values());
  const listbox = { role: "listbox", "aria-label": "Heads", tabindex: 0 };
  const list = el("div", listbox, base, above, holder);
  list.style.width = `${across}px`;
  list.style.height = `${down}px`;
  const optionAt = (point: Point | null) => point && options.get(point);
  const beside = wide ? width - across - GAP : width;
  const detail = mapDetail(context, map, lookedAt, beside);

  scope.effect(() => {
    const [names, { colorOf }, colors] = [marked.value, coloring.value, palette.value];
    const isFaded = (head: Head) => names !== null && !names.has(headPlace(head));
    const look = { palette: colors, colorOf, isFaded };
    paintCanvas(base, across, down, (painter) => paintMap(painter, layout, look));
  });
  scope.effect(() => {
    const { layer, head } = lookedAt.value;
    const nearest = near?.nearest.get(layer)?.[head] ?? [];
    const overlay = {
      chosen: pointOf(current.value),
      focused: pointOf(lookedAt.value),
      nearest: pointsOf(nearest.slice(0, MOST_SIMILAR)),
      off: pointsOf(state.off.value),
      brush: brush.value,
      labels,
      palette: palette.value,
      colorOf: coloring.value.colorOf,
    };
    paintCanvas(above, across, down, (painter) => paintOverlay(painter, layout, overlay));
  });
  scope.effect(() => {
    const option = optionAt(pointOf(current.value));
    option?.setAttribute("aria-selected", "true");
    return () => option?.setAttribute("aria-selected", "false");
  });
  scope.effect(() => {
    const off = pointsOf(state.off.value).map(optionAt);
    for (const option of off) option?.setAttribute("aria-description", "switched off");
    return () => {
      for (const option of off) option?.removeAttribute("aria-description");
    };
  });
  scope.effect(() => {
    const active = optionAt(pointOf(focused.value))?.id;
    setAttributes(list, { "aria-activedescendant": active });
  });

  const placeIn: PlaceOf = ({ clientX, clientY }) => {
    const { left, top } = list.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  const markWithin = perFrame((box: Frame) => {
    brush.value = box;
    const inside = pointsWithin(layout.points, box);
    marked.value = inside.length ? new Set(inside.map(({ head }) => headPlace(head))) : null;
  });
  scope.onEnd(markWithin.cancel);
  const brushing = bindBrush(list, placeIn, (box) => {
    if (box) return markWithin(box);
    markWithin.cancel();
    brush.value = null;
  });
  const headAt = (event: MouseEvent) => pointNear(layout.points, ...placeIn(event))?.head ?? null;
  bindPointer(list, list, headAt, {
    hover(head) {
      if (brushing()) return;
      base.style.cursor = head ? "pointer" : "";
      map.lookAt(head);
    },
    click(head) {
      if (brushing()) return;
      if (head) map.choose(head);
      else marked.value = null;
    },
    switchOff: map.switchOff,
    doubleClick: map.enter,
  });
  const headAfter = (key: string) =>
    pointAfter(inOrder, pointOf(focused.peek()), key)?.head ?? null;
  bindKeys(list, list, headAfter, {
    move: map.lookAt,
    enter() {
      const head = focused.peek();
      if (sameHead(head, current.peek())) map.enter(head);
      else map.choose(head);
    },
    escape() {
      const any = marked.peek() !== null || !sameHead(focused.peek(), current.peek());
      batch(() => {
        marked.value = null;
        map.lookAt(null);
      });
      return any;
    },
  });
  return el("div", { class: `map-stage ${wide ? "wide" : ""}` }, list, detail);

  /** The accessible point of a head, at its place. */
  function optionOf({ head, x, y, radius }: Point): HTMLElement {
    const numbers = map.inUse.value.map((metric) => measured(metric, head));
    const words = [described(store.manifest.patterns, head), ...numbers, map.outsideOf(head)];
    const option = el("div", {
      role: "option",
      id: `point-${head.layer.number}-${head.head}`,
      "aria-label": `${headName(head)}: ${words.filter(Boolean).join(", ")}`,
      "aria-selected": "false",
    });
    // Margins that add up to nothing. Browsers would keep a layer for each of thousands of elements
    // that are positioned, and go through all of them at every frame.
    option.style.cssText =
      `width:${2 * radius}px;height:${2 * radius}px;` +
      `margin:${y - radius}px 0 ${-y - radius}px ${x - radius}px`;
    return option;
  }
}
