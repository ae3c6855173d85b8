/** The detail beside the map: the numbers and strongest links of the head that is looked at. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { type Head, layerOf, type Metric, type Similarity } from "../../data/manifest.ts";
import { paintCanvas } from "../../painting/canvas.ts";
import { el } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { goTo } from "../../state/navigation.ts";
import type { Range } from "../shared/all-heads/null.ts";
import { described, reasonsOf } from "../shared/all-heads/patterns.ts";
import { headTitle, sampledText } from "../shared/all-heads/status.ts";
import { paintThumbnail, thumbnailsOf } from "../shared/all-heads/thumbnail.ts";
import type { Context } from "../shared/view.ts";
import { exampleList } from "./examples.ts";
import { groupName } from "./labels.ts";
import { measures } from "./measures.ts";
import { type Near, similar } from "./similar.ts";
import { strongest } from "./strongest.ts";

export interface DetailOptions {
  readonly context: Context;
  readonly focused: ReadonlySignal<Head>;
  /** In the order of the table. */
  readonly metrics: readonly Metric[];
  readonly ranges: ReadonlyMap<Metric, Range | null>;
  readonly nullLabel: string;
  readonly similarity: Similarity | null;
  readonly colorOf: ReadonlySignal<(head: Head) => string>;
}

/** The largest side of the thumbnail: beside a table of numbers, and with their intervals. */
const THUMBNAIL = { alone: 132, intervals: 96 } as const;

/** @param width in CSS pixels */
export function mapDetail(scope: Scope, options: DetailOptions, width: number): HTMLElement {
  const { context, focused, metrics, ranges, nullLabel, similarity, colorOf } = options;
  const { state, store, palette } = context;
  const stack = state.shown.stack.peek();
  const examples = state.examples.peek();
  const { aspect, thumbnailOf } = thumbnailsOf(store, stack, state.segments.value, "matrix");
  const paint = (canvas: HTMLCanvasElement, head: Head, side: number) => {
    const [thumbnail, color, colors] = [thumbnailOf(head), colorOf.value(head), palette.value];
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
    const group = groupName(head);
    const name = [el("strong", {}, headTitle(head)), group && ` [${group}]`];
    title.title = [
      named && described(patterns, head),
      group && "The heads in brackets share their keys.",
    ]
      .filter(Boolean)
      .join("\n");
    if (texts === null) title.replaceChildren(...name, ` ${described(patterns, head)}`);
    else title.replaceChildren(...name);
    words.textContent = described(patterns, head);
    rules.textContent = [reasonsOf(patterns, head), sampledText(stack, store.manifest)]
      .filter(Boolean)
      .join(" · ");
  });
  const intervals = metrics.some(({ interval }) => interval);
  const side = THUMBNAIL[intervals ? "intervals" : "alone"];
  const columns = intervals ? "intervals" : nullLabel ? "with-null" : "";
  scope.effect(() => paint(thumbnail, focused.value, side));
  const table = measures(scope, { focused, metrics, ranges, nullLabel });
  const nearest = computed<readonly Near[]>(() => {
    const { layer, head } = focused.value;
    return (similarity?.nearest.get(layer)?.[head] ?? []).map(([number, other, distance]) => ({
      head: { layer: layerOf(stack, number), head: other },
      distance,
    }));
  });
  return el(
    "div",
    { class: "map-detail" },
    // Words over many texts are long, and their numbers have intervals.
    ...(texts === null
      ? [title, el("div", { class: `measures ${columns}` }, thumbnail, table)]
      : [
          el("div", { class: "of-head" }, thumbnail, el("div", {}, title, words, rules)),
          el("div", { class: "measures" }, table),
        ]),
    ...(similarity
      ? [
          similar(
            scope,
            {
              similarity,
              nearest,
              paint,
              colorOf,
              choose: ({ layer, head }) => goTo(state, { layer: layer.number, head }),
            },
            width,
          ),
        ]
      : []),
    ...(examples ? [exampleList(scope, { context, focused, metrics, examples })] : []),
    strongest(scope, context, focused, colorOf, width),
  );
}
