/** The text of a record with arcs for a head's strongest links. */

import { paintCanvas } from "../../painting/canvas.ts";
import { fontOf, shorten, textMeasure } from "../../parts/text.ts";
import type { Palette } from "../../styles/palette.ts";
import type { Axis } from "../shared/axes.ts";
import type { Link } from "../shared/links.ts";

const FONT = fontOf(11);
/** The height of the arcs, and of the text below them. */
const ARCS = 44;
const TEXT = 18;
export const SENTENCE_HEIGHT = ARCS + TEXT;
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
export function paintSentence(
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
