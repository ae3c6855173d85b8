/** Bars and numbers of the neuron view: what is added, what goes into the softmax, what comes out. */

import { sees } from "../data/explanation.ts";
import { number, weight } from "../parts/text.ts";
import type { Palette } from "../styles/theme.ts";
import { logits, magnitudesOf } from "../views/neuron/bars.ts";
import type { Facts } from "../views/neuron/facts.ts";
import type { Bars } from "../views/neuron/layout.ts";
import type { Places } from "./places.ts";
import type { Layout } from "./scene.ts";
import { textWidth } from "./text.ts";

const HATCH = 5;
/** Rows lower than this have smaller numbers. */
const ROOMY = 16;

/** Where a bar stands in its row, and how it looks; that of a query compared with is hatched. */
interface Bar {
  readonly layout: Layout;
  readonly palette: Palette;
  readonly top: number;
  readonly height: number;
  readonly second: boolean;
  readonly font: number;
}

export function bars(layout: Layout, facts: Facts, places: Places, palette: Palette): void {
  const explained = [facts.explanation.value, facts.comparison.value].filter((one) => one !== null);
  const largest = magnitudesOf(facts, explained);
  const { keys } = facts.shown;
  const sink = facts.data.sink(facts.head.value);
  const end = Math.min(keys.length + (sink === null ? 0 : 1), places.end);
  const height = (end - places.first) * places.row;
  for (const column of [places.bias, places.scores]) {
    if (!column) continue;
    const [top] = places.band(places.first);
    layout.rect(column.left + column.width / 2 - 0.5, top, 1, height, { fill: palette.border });
  }
  const font = places.row / explained.length < ROOMY ? 11 : 12;
  explained.forEach((one, part) => {
    for (let row = places.first; row < end; row++) {
      const [top, height] = places.band(row, part, explained.length);
      const bar = { layout, palette, top, height, second: part > 0, font };
      if (row === keys.length) {
        if (sink === null || one.own.sink === null || one.shown.sink === null) continue;
        if (places.scores) signed(bar, places.scores, sink, sink, largest.score);
        share(bar, places.weights, one.own.sink, one.shown.sink);
        continue;
      }
      const key = keys[row];
      if (!sees(one, key)) {
        if (places.scores) label(bar, "masked", places.scores.end);
        continue;
      }
      if (places.bias && one.bias) {
        signed(bar, places.bias, one.bias[key], one.bias[key], largest.bias);
      }
      if (places.scores) {
        const [own, now] = [logits(one.own)[key], logits(one.shown)[key]];
        signed(bar, places.scores, own, now, largest.score);
      }
      share(bar, places.weights, one.own.weights[key], one.shown.weights[key]);
    }
  });
}

/** To the right of the middle where positive, to the left where negative, with its number. */
function signed(bar: Bar, column: Bars, own: number, now: number, largest: number): void {
  const [zero, reach] = [column.left + column.width / 2, column.width / 2 / largest];
  draw(bar, zero, now * reach, now < 0 ? bar.palette.negative : bar.palette.positive);
  if (own !== now) ghost(bar, zero, own * reach);
  label(bar, number(now), column.end);
}

/** From 0 to 1, with its number. */
function share(bar: Bar, column: Bars, own: number, now: number): void {
  draw(bar, column.left, now * column.width, bar.palette.positive);
  if (own !== now) ghost(bar, column.left, own * column.width);
  const text = weight(now);
  const after = column.left + Math.max(own, now) * column.width + 6;
  label(bar, text, after + textWidth(text, bar.font));
}

function draw({ layout, top, height, second }: Bar, x: number, length: number, color: string) {
  const [left, width] = [Math.min(x, x + length), Math.abs(length)];
  if (!second) layout.rect(left, top, width, height, { fill: color });
  else if (width >= 1) {
    layout.lines(hatch(left, top, width, height), color, 1.2);
    layout.rect(left, top, width, height, { stroke: color });
  }
}

/** An outline as long as the model's own bar. */
function ghost({ layout, top, height, palette }: Bar, x: number, length: number): void {
  if (Math.abs(length) < 1) return;
  const left = Math.min(x, x + length);
  layout.rect(left, top, Math.abs(length), height, { stroke: palette.text });
}

function label({ layout, top, height, font, palette }: Bar, text: string, end: number): void {
  layout.text(end, top + height / 2, text, font, palette.muted, { anchor: "end" });
}

/** Diagonal lines within a box: x0, y0, x1, y1 of each. */
export function hatch(x: number, y: number, width: number, height: number): number[] {
  const points: number[] = [];
  for (let shift = HATCH; shift < width + height; shift += HATCH) {
    // From the left edge or the lower one, up to the upper or the right one.
    points.push(x + Math.max(0, shift - height), y + Math.min(shift, height));
    points.push(x + Math.min(shift, width), y + Math.max(0, shift - width));
  }
  return points;
}
