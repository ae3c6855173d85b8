/** The strongest links of the head that is looked at, in words and as arcs over the text. */

import { signal } from "@preact/signals-core";
import { type Head, metricValue } from "../../data/manifest.ts";
import { leavesOut } from "../../data/shown.ts";
import { paintCanvas } from "../../painting/canvas.ts";
import { el } from "../../parts/dom.ts";
import { fontOf, joined, number, numberAt, shorten, textMeasure } from "../../parts/text.ts";
import { attentionOf } from "../../state/lens.ts";
import type { Palette } from "../../styles/palette.ts";
import { sameHead } from "../shared/all-heads/heads.ts";
import { type Axis, axesOf, sameText } from "../shared/axes.ts";
import { shownMatrix } from "../shared/heads/matrices.ts";
import { type Link, strongestLinks } from "../shared/links.ts";
import type { Looked, Part } from "./heads.ts";

/** The number of links that are drawn, and of those that are written. */
const DRAWN = 5;
const WRITTEN = 3;
/** The height of two lines of text, with the space above them. */
const LINES = 40;
/** The time for which the pointer has to rest on a head before its layer is fetched. */
const REST_MS = 120;

/** @param width in CSS pixels */
export function strongest({ context, map, focused }: Looked, width: number): Part {
  const { scope, state, store, palette } = context;
  const canvas = el("canvas", { "aria-hidden": "true" });
  const line = el("figcaption", {});
  const figure = el("figure", {}, canvas, line);
  const stack = state.shown.stack.peek();
  const measure = textMeasure(fontOf(12));
  figure.style.minHeight = `${SENTENCE_HEIGHT + LINES}px`;
  const settled = signal(focused.peek());
  /** The head whose links are shown. */
  const shown = signal<Head | null>(null);
  scope.effect(() => {
    const head = focused.value;
    const timer = setTimeout(() => {
      settled.value = head;
    }, REST_MS);
    return () => clearTimeout(timer);
  });
  scope.effect(() => {
    // The links of another head stay for a moment, as such.
    figure.classList.toggle("faded", !sameHead(focused.value, shown.value));
  });

  /** Show a sentence in place of links. */
  const say = (head: Head, text: string) => {
    shown.value = head;
    canvas.hidden = true;
    line.textContent = text;
    figure.setAttribute("aria-label", text);
  };

  scope.scopedEffect((own) => {
    const head = settled.value;
    const loaded = store.stack(stack.name).layer(head.layer.number).value;
    if (loaded.status === "failed") say(head, loaded.message);
    if (loaded.status !== "ready") return;
    const { data } = loaded;
    if (data.overview(head.head, "all")) {
      say(head, "The layer is too large to search it here: open the head.");
      return;
    }
    const axes = axesOf(state, stack);
    // The numbers of the map are those of attention.
    const matrix = shownMatrix(state, data, axes, head.head, { lens: attentionOf(state) });
    const same = sameText(axes);
    const show = (links: readonly Link[]) => {
      const drawn = links.slice(0, DRAWN);
      shown.value = head;
      canvas.hidden = !same || !drawn.length;
      own.effect(() => {
        if (canvas.hidden) return;
        const color = map.coloring.value.colorOf(head);
        paintSentence(canvas, width, axes.query, drawn, color, palette.value);
      });
      const named = (name: (text: string) => string) =>
        drawn.map(({ query, key }) => {
          const [from, to] = [axes.query.names[query], axes.key.names[key]];
          return `${name(from)} → ${name(to)} ${numberAt(matrix, query, key)}`;
        });
      const short = named((text) => shorten(text, WIDEST, measure));
      const whole = named((text) => text);
      const first = state.shown.metrics.peek().find(({ name }) => name === "first");
      // Over many texts, it is not that of this text.
      const isOwn = store.manifest.texts === null && !stack.difference;
      const share = isOwn && first ? metricValue(first, head) : null;
      line.textContent = joined(
        ...(drawn.length ? short.slice(0, WRITTEN) : ["no links between two other tokens"]),
        leavesOut(state.segments.value, stack) ? "of tokens shown" : "",
        share === null ? "" : `on the first token ${number(share, first?.digits)}`,
      );
      line.title = whole.join(" · ");
      figure.setAttribute("aria-label", `Strongest links: ${whole.join(", ") || "none"}`);
    };
    own.onEnd(
      strongestLinks(matrix, axes, (done, links) => {
        if (done === 1) show(links);
      }),
    );
  });
  const where = store.manifest.texts === null ? "" : " in this text";
  return [[` most${where}; first and special tokens left out`], figure];
}

const FONT = fontOf(11);
/** The height of the arcs, and of the text below them. */
const ARCS = 44;
const TEXT = 18;
const SENTENCE_HEIGHT = ARCS + TEXT;
/** The space between two tokens, and the words in place of those left out. */
const SPACE = 4;
const LEFT_OUT = "…";
/** The most space that a token may take. */
export const WIDEST = 100;
/** The thickness of an arc with weight 1. */
const THICKEST = 4;

interface Placed {
  /** Null for tokens that are left out. */
  readonly unit: number | null;
  readonly text: string;
  readonly x: number;
  readonly width: number;
}

/** Paint the text in one line; where it does not fit, without tokens far from any link. */
function paintSentence(
  canvas: HTMLCanvasElement,
  width: number,
  axis: Axis,
  links: readonly Link[],
  color: string,
  palette: Palette,
): void {
  const measure = textMeasure(FONT);
  const [tokens, shown] = fitting(axis, links, width, measure);
  const middleOf = new Map(tokens.map(({ unit, x, width: across }) => [unit, x + across / 2]));
  const linked = new Set(shown.flatMap(({ query, key }) => [query, key]));
  paintCanvas(canvas, width, SENTENCE_HEIGHT, (painter) => {
    painter.font = FONT;
    painter.textBaseline = "middle";
    const spans = shown.map(({ query, key, weight }) => {
      const [from, to] = [middleOf.get(query) ?? 0, middleOf.get(key) ?? 0];
      return { from, to, weight, length: Math.abs(from - to) };
    });
    const longest = Math.max(...spans.map(({ length }) => length), 1);
    const strongest = Math.max(...spans.map(({ weight }) => weight), 0.01);
    for (const { from, to, weight, length } of spans) {
      // The control points of a curve lie a third above its top.
      const top = ARCS - (ARCS - 4) * (0.35 + (0.65 * length) / longest) * (4 / 3);
      painter.globalAlpha = 0.4 + (0.6 * weight) / strongest;
      painter.strokeStyle = color;
      painter.lineWidth = Math.max(1, THICKEST * weight);
      painter.beginPath();
      painter.moveTo(from, ARCS);
      painter.bezierCurveTo(from, top, to, top, to, ARCS);
      painter.stroke();
      // The end of the key.
      painter.fillStyle = color;
      painter.beginPath();
      painter.roundRect(to - 2, ARCS - 2, 4, 4, 2);
      painter.fill();
    }
    painter.globalAlpha = 1;
    for (const { unit, text, x } of tokens) {
      painter.fillStyle = unit !== null && linked.has(unit) ? palette.text : palette.muted;
      painter.fillText(text, x, ARCS + TEXT / 2 + 1);
    }
  });
}

/** The tokens in one line, and the links between them: as many as have room. */
function fitting(
  axis: Axis,
  links: readonly Link[],
  width: number,
  measure: (text: string) => number,
): readonly [readonly Placed[], readonly Link[]] {
  const all = placed(axis, axis.shown, measure);
  if (endOf(all) <= width) return [all, links];
  for (let count = links.length; count > 0; count--) {
    const some = links.slice(0, count);
    for (const around of [2, 1, 0]) {
      const near = axis.shown.filter((unit) =>
        some.some(({ query, key }) =>
          [query, key].some((end) => Math.abs(axis.places[end] - axis.places[unit]) <= around),
        ),
      );
      const tokens = placed(axis, near, measure);
      if (endOf(tokens) <= width) return [tokens, some];
    }
  }
  return [[], []];
}

function placed(
  axis: Axis,
  units: readonly number[],
  measure: (text: string) => number,
): readonly Placed[] {
  const out: Placed[] = [];
  let x = 0;
  const add = (unit: number | null, text: string) => {
    const width = measure(text);
    out.push({ unit, text, x, width });
    x += width + SPACE;
  };
  let next = 0;
  for (const unit of units) {
    if (axis.places[unit] > next) add(null, LEFT_OUT);
    add(unit, shorten(axis.units.labels[unit], WIDEST, measure));
    next = axis.places[unit] + 1;
  }
  if (next < axis.shown.length) add(null, LEFT_OUT);
  return out;
}

const endOf = (tokens: readonly Placed[]) => {
  const last = tokens.at(-1);
  return last ? last.x + last.width : 0;
};
