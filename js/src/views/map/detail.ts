/** The detail beside the map: the head that is looked at, its numbers, and heads like it. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import {
  type Head,
  headsAlone,
  layerOf,
  type Metric,
  metricValue,
  type Similarity,
} from "../../data/manifest.ts";
import { headPlace } from "../../data/pairing.ts";
import { paintCanvas } from "../../painting/canvas.ts";
import { button, el, tableElement } from "../../parts/dom.ts";
import { joined, number } from "../../parts/text.ts";
import { paintThumbnail, thumbnailsOf } from "../shared/all-heads/thumbnail.ts";
import {
  described,
  headName,
  headTitle,
  ordered,
  reasonsOf,
  sampledText,
} from "../shared/all-heads/words.ts";
import type { Context } from "../shared/view.ts";
import { exampleList } from "./examples.ts";
import type { Looked, MapHeads, Part } from "./heads.ts";
import { groupName } from "./labels.ts";
import { strongest } from "./strongest.ts";

/** Paints the thumbnail of a head; reads the signals that it depends on. */
type PaintHead = (canvas: HTMLCanvasElement, head: Head, side: number) => void;

/** The largest side of the thumbnail: beside a table of numbers, and with their intervals. */
const THUMBNAIL = { alone: 180, intervals: 96 } as const;

const LINKS =
  "The strongest links between two tokens. Left out are those of a token to itself, to the first, " +
  "and from or to special tokens.";

/** @param width in CSS pixels */
export function mapDetail(
  context: Context,
  map: MapHeads,
  focused: ReadonlySignal<Head>,
  width: number,
): HTMLElement {
  const { scope, state, store, palette } = context;
  const all = state.shown.metrics.value;
  const metrics = map.inUse.value.reduceRight((others, metric) => ordered(metric, others), all);
  const looked: Looked = { context, map, focused, metrics };
  const stack = state.shown.stack.peek();
  const [similarity, examples] = [map.similarity.value, state.examples.peek()];
  const { aspect, thumbnailOf } = thumbnailsOf(context, "matrix");
  const paint: PaintHead = (canvas, head, side) => {
    const [thumbnail, colors] = [thumbnailOf(head), palette.value];
    const color = map.coloring.value.colorOf(head);
    const size = [side * Math.min(1, aspect), side / Math.max(1, aspect)] as const;
    paintCanvas(canvas, ...size, (painter, ratio) =>
      paintThumbnail(painter, ratio, "matrix", thumbnail, [0, 0, ...size], color, colors),
    );
  };

  const { patterns, texts } = store.manifest;
  const named = texts === null && patterns.words.size > 0;
  const title = el("div", { class: `title ${named ? "named" : ""}` });
  const words = el("div", {});
  const rules = el("div", { class: "rules", title: "The rules behind these words" });
  const thumbnail = el("canvas", { "aria-hidden": "true" });
  scope.effect(() => {
    const head = focused.value;
    const [group, said] = [groupName(head), described(patterns, head)];
    const hints = [named && said, group && "The heads in brackets share their keys."];
    title.title = hints.filter(Boolean).join("\n");
    title.replaceChildren(el("strong", {}, headTitle(head)), group && ` [${group}]`);
    if (texts === null) title.append(` ${said}`);
    words.textContent = said;
    rules.textContent = joined(reasonsOf(patterns, head), sampledText(stack, store.manifest));
  });
  const intervals = metrics.some(({ interval }) => interval);
  const side = THUMBNAIL[intervals ? "intervals" : "alone"];
  const nullLabel = all.find((metric) => metric.null)?.null?.label ?? "";
  const columns = intervals ? "intervals" : nullLabel ? "with-null" : "";
  scope.effect(() => paint(thumbnail, focused.value, side));
  const table = measures(looked, nullLabel);
  const element = el("div", { class: "map-detail" });
  // Words over many texts are long, and their numbers have intervals.
  if (texts === null) {
    element.append(title, el("div", { class: `measures ${columns}` }, thumbnail, table));
  } else {
    const ofHead = el("div", { class: "of-head" }, thumbnail, el("div", {}, title, words, rules));
    element.append(ofHead, el("div", { class: "measures" }, table));
  }
  const add = (kind: string, name: string, [said, content]: Part, title?: string) => {
    const heading = el("div", { class: "title", title }, el("strong", {}, name), ...said);
    element.append(el("section", { class: kind }, heading, content));
  };
  if (similarity) add("similar", "Similar heads", similar(looked, similarity, paint, width));
  if (examples) add("examples", "Examples", exampleList(looked, examples));
  if (!headsAlone(store.manifest)) {
    add("map-links", "Where it looks", strongest(looked, width), LINKS);
  }
  return element;
}

/** The most rows; metrics that are too many are counted. */
const MOST_ROWS = 9;

/** The table of a head's numbers, with the null's range beside them. */
function measures({ context, map, focused, metrics }: Looked, nullLabel: string): HTMLElement {
  const shown = metrics.length > MOST_ROWS ? metrics.slice(0, MOST_ROWS - 1) : metrics;
  const hasInterval = shown.some(({ interval }) => interval);
  const hasNull = nullLabel !== "" && shown.some(map.rangeOf);
  const rows = shown.map((metric) => {
    const range = map.rangeOf(metric);
    const [value, interval] = [el("td", {}), el("td", { class: "range" })];
    const title = metric.description || undefined;
    const name = metric.unit ? `${metric.label}, ${metric.unit}` : metric.label;
    const row = el("tr", {}, el("th", { scope: "row", title }, name), value);
    if (hasInterval) row.append(interval);
    if (hasNull) row.append(el("td", { class: "range" }, range ? between(metric, ...range) : ""));
    return { metric, row, value, interval };
  });
  context.scope.effect(() => {
    const { layer, head } = focused.value;
    for (const { metric, value, interval } of rows) {
      const own = metricValue(metric, focused.value);
      value.textContent = own === null ? "–" : number(own, metric.digits);
      const [low, high] = (["low", "high"] as const).map(
        (end) => metric.interval?.[end].get(layer)?.[head] ?? null,
      );
      interval.textContent = low === null || high === null ? "" : between(metric, low, high);
    }
  });
  const others = [hasInterval ? "interval" : "", hasNull ? `null: ${nullLabel}, 95%` : ""];
  const columns = ["", "head", ...others.filter(Boolean)];
  const more = metrics.length - shown.length;
  const label = hasNull ? `Measures, with the 95% range of ${nullLabel}` : "Measures";
  const lines = rows.map(({ row }) => row);
  const table = tableElement(label, columns, lines);
  if (more) table.append(el("caption", {}, `and ${more} more in Copy`));
  return table;
}

const between = ({ digits }: Metric, low: number, high: number) =>
  `${number(low, digits)} … ${number(high, digits)}`;

/** The number of heads that are shown. */
export const MOST_SIMILAR = 5;
const WIDEST = 72;
const GAP = 14;

/** The heads that are most like the one in focus, as thumbnails. */
function similar(
  { context: { scope, state }, map, focused }: Looked,
  similarity: Similarity,
  paint: PaintHead,
  width: number,
): Part {
  const stack = state.shown.stack.peek();
  const side = Math.min(WIDEST, Math.floor((width - (MOST_SIMILAR - 1) * GAP) / MOST_SIMILAR));
  const nearest = computed(() => {
    const { layer, head } = focused.value;
    const all = similarity.nearest.get(layer)?.[head] ?? [];
    return all.map(([number, head, apart]) => ({ layer: layerOf(stack, number), head, apart }));
  });
  const items = Array.from({ length: MOST_SIMILAR }, (_, at) => {
    const [canvas, bar, name, far] = [el("canvas"), el("i"), el("strong"), el("span")];
    const open = button({}, "", () => {
      const near = nearest.peek()[at];
      if (near) map.choose(near);
    });
    open.style.width = `${side}px`;
    open.append(canvas, bar, el("span", { class: "similar-name" }, name, far));
    const item = el("li", {}, open);
    scope.effect(() => {
      const near = nearest.value[at];
      // It keeps its place, so that nothing moves.
      item.style.visibility = near ? "" : "hidden";
      if (!near) return;
      const distance = number(near.apart, 3);
      open.setAttribute("aria-label", `${headName(near)}, distance ${distance}`);
      name.textContent = headPlace(near);
      far.textContent = distance.replace(/^0/, "");
      bar.style.background = map.coloring.value.colorOf(near);
      paint(canvas, near, side);
    });
    return item;
  });
  const list = el("ul", { role: "list", "aria-label": "Similar heads" }, ...items);
  return [[` ${similarity.label}`], list];
}
