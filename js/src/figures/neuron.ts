/** The neuron view as a figure: query, key, their products, q·k and softmax of one query. */

import { headMatrix } from "../data/attention-matrix.ts";
import { sees } from "../data/explanation.ts";
import { largestOf } from "../data/extremes.ts";
import { products } from "../data/neurons.ts";
import { tokenNames } from "../parts/names.ts";
import { number } from "../parts/text.ts";
import { tokenFontSize } from "../parts/tokens.ts";
import { lockedOn } from "../state/locks.ts";
import type { Side, State } from "../state/state.ts";
import { headColors } from "../styles/head-colors.ts";
import type { Palette } from "../styles/theme.ts";
import { barHeads, type ColumnHead, vectorHeads } from "../views/neuron/column-headers.ts";
import type { Facts } from "../views/neuron/facts.ts";
import { MARKS } from "../views/neuron/layout.ts";
import { rotaryText } from "../views/neuron/legend.ts";
import { IN_FULL } from "../views/neuron/rows.ts";
import { axesOf } from "../views/shared/axes.ts";
import { bars } from "./bars.ts";
import { startsOf } from "./columns.ts";
import { allLines, ribbons } from "./lines.ts";
import { marks } from "./marks.ts";
import { inRows, type Places, placesOf } from "./places.ts";
import { Layout, MARGIN, type Scene, type Shape } from "./scene.ts";
import { clean, mixed, shorten, smallPrint, textWidth } from "./text.ts";

/** What the view shows. */
export interface NeuronPicture {
  readonly state: State;
  readonly facts: Facts;
  readonly palette: Palette;
  readonly expanded: boolean;
  /** The first of the rows in sight, of more than are drawn. */
  readonly start: number | null;
  readonly model: string;
}

const TOP = 78;
const FAINT = 0.4;
const FAINTEST = 0.01;

export function neuronScene(picture: NeuronPicture): Scene {
  const { facts, palette, expanded, model } = picture;
  const shapes: Shape[] = [];
  const layout = new Layout(shapes, MARGIN, MARGIN);
  const { data, head, shown } = facts;
  const title = `Layer ${data.info.number} · Head ${head.value}`;
  layout.text(0, 7, title, 14, palette.text, { bold: true });
  const places = placesOf(facts, expanded, picture.start);
  const body = layout.at(0, TOP);
  if (expanded) {
    focus(body, facts, places, palette);
    strips(body, facts, places, palette);
    marks(body, facts, places, palette);
  }
  bars(body, facts, places, palette);
  if (expanded || shown.keys.length > IN_FULL) curves(body, facts, places, palette);
  else lines(body, picture, places);
  labels(body, picture, places);
  heads(layout, headsOf(picture, places), palette);
  let bottom = TOP + places.top(places.end) + 10;
  if (expanded) bottom = legend(layout, facts, bottom, palette);
  const width = places.weights.end;
  const notes = [...notesOf(picture, places), model];
  const height = smallPrint(layout, width, bottom - 12, notes, palette.muted);
  const { background } = palette;
  return { width: width + 2 * MARGIN, height: height + 2 * MARGIN, background, shapes };
}

/** Around the row of the key that is looked at. */
function focus(body: Layout, facts: Facts, places: Places, { accent }: Palette): void {
  const { value: key } = facts.focusKey;
  const row = key === null ? -1 : facts.places.key[key];
  if (!places.drawn(row)) return;
  const x = places.keyLabels + 1;
  const width = places.weights.end - x - 1;
  body.rect(x, places.top(row) + 1, width, places.row - 2, { stroke: accent, line: 1.5 });
}

function strips(body: Layout, facts: Facts, places: Places, palette: Palette): void {
  const { data, shown, scales } = facts;
  const head = facts.head.value;
  const explained = [facts.explanation.value, facts.comparison.value].filter((one) => one !== null);
  const strip = (
    x: number,
    [top, height]: readonly [number, number],
    vector: Float32Array,
    scale: number,
    opacity: number,
  ) => {
    const pixels = facts.order.value.map((n) => {
      const color = vector[n] < 0 ? palette.negative : palette.positive;
      const share = Math.min(1, Math.abs(vector[n]) / scale) * opacity;
      return mixed(palette.background, color, share);
    });
    body.cells(x, top, places.strip, height, pixels.length, pixels.join(""));
  };
  const [vector, product] = [scales.vector.value, scales.product.value];
  for (const [row, query] of inRows(shown.queries, places)) {
    const opacity = explained.some((one) => one.query === query) ? 1 : FAINT;
    const q = data.query(head, query) as Float32Array;
    strip(places.queries, places.band(row), q, vector, opacity);
  }
  for (const [row, key] of inRows(shown.keys, places)) {
    const k = data.key(head, key) as Float32Array;
    const opacity = explained.some((one) => sees(one, key)) ? 1 : FAINT;
    strip(places.keys, places.band(row), k, vector, opacity);
    explained.forEach((one, part) => {
      if (!sees(one, key)) return;
      const terms = products(data.query(head, one.query) as Float32Array, k);
      strip(places.products, places.band(row, part, explained.length), terms, product, 1);
    });
  }
}

/** From the query to each key, as opaque as the weight; dashed from the query compared with. */
function curves(body: Layout, facts: Facts, places: Places, { positive }: Palette): void {
  const [left, right] = places.curves;
  const middle = (left + right) / 2;
  const centre = (row: number) =>
    places.top(Math.max(places.first - 1, Math.min(places.end, row))) + places.row / 2;
  [facts.explanation.value, facts.comparison.value].forEach((one, second) => {
    if (!one) return;
    const from = facts.places.query[one.query];
    facts.shown.keys.forEach((key, to) => {
      const value = one.shown.weights[key];
      if (value < FAINTEST || !(places.drawn(from) || places.drawn(to))) return;
      const [start, end] = [centre(from), centre(to)];
      const points = [left, start, middle, start, middle, end, right, end];
      const dash = second ? { dash: [5, 4] } : {};
      body.curve(points, positive, 2.5, { opacity: Math.min(1, value), ...dash });
    });
  });
}

/** Without vectors: the lines of all queries, or of the one looked at. */
function lines(body: Layout, { state, facts, palette }: NeuronPicture, places: Places): void {
  const { data, head } = facts;
  const axes = axesOf(state, data.stack, false);
  const column = (side: Side) => {
    const { length } = axes[side].shown;
    const starts = startsOf(axes[side].shown.map(() => places.row));
    return { starts, ends: starts, first: 0, end: length, long: false, across: 0, font: 14 };
  };
  const { curves } = places;
  const [query, key] = [column("query"), column("key")];
  const length = Math.max(largestOf(query.ends), largestOf(key.ends));
  const columns = { query, key, length, across: curves[1] - curves[0] };
  const between = body.at(curves[0], MARKS);
  const matrix = headMatrix(data, head.value);
  const colors = [headColors(data.info.heads, palette.dark)[head.value]];
  const looked = state.focus.value.query ?? state.query.value ?? -1;
  const from = axes.query.shown.filter((at) => at === looked);
  if (from.length) {
    ribbons(between, axes, columns, "query", from, [matrix.row(looked)], colors, palette);
  } else allLines(between, axes, columns, [matrix], colors);
}

function labels(body: Layout, { state, facts, palette }: NeuronPicture, places: Places): void {
  const { stack } = facts.data;
  const font = tokenFontSize(places.row);
  const explained = [facts.explanation.value, facts.comparison.value].map((one) => one?.query);
  for (const side of ["query", "key"] as const) {
    const [own, x] = side === "query" ? ([true, 0] as const) : ([false, places.keyLabels] as const);
    const tokens = own ? stack.queries : stack.keys;
    const locked = lockedOn(state, side);
    for (const [row, position] of inRows(own ? facts.shown.queries : facts.shown.keys, places)) {
      const [top, bold] = [places.top(row), locked.includes(position)];
      if (bold) {
        const stroke = { stroke: palette.accent, line: 1.5, radius: 4 };
        body.rect(x, top, places.labels, places.row, { fill: palette.highlight, ...stroke });
      }
      const kept = explained.includes(position) ? 1 : 0.62;
      const color = own
        ? `#${mixed(palette.background, palette.text, kept)}`
        : tokens.special.includes(position) && !bold
          ? palette.muted
          : palette.text;
      const text = shorten(tokens.labels[position], places.labels - 14, font, true);
      const middle = top + places.row / 2;
      const look = bold ? { bold } : {};
      if (own) {
        body.text(x + places.labels - 8, middle, text, font, color, { anchor: "end", ...look });
      } else body.text(x + 8, middle, text, font, color, look);
    }
  }
  const row = facts.shown.keys.length;
  if (facts.data.sink(facts.head.value) === null || !places.drawn(row)) return;
  const middle = places.top(row) + places.row / 2;
  body.text(places.keyLabels + 8, middle, "sink", font, palette.muted);
}

function headsOf({ facts, expanded }: NeuronPicture, places: Places): readonly ColumnHead[] {
  const width = places.weights.end;
  const own = barHeads({ ...places, width }, facts);
  if (expanded) {
    const query = clean(tokenNames(facts.data.stack.queries)[facts.explanation.value.query]);
    const [first, ...others] = vectorHeads(
      { ...places, scores: places.scores ?? places.weights, width },
      facts,
    );
    return [{ ...first, detail: [query] }, ...others, ...own];
  }
  const [left, right] = places.curves;
  const detail = facts.muted.value.length ? ["the model’s own"] : [];
  return [{ name: ["Attention"], detail, left, width: right - left }, ...own];
}

/** The names of the columns, and what is to be said of each, as far as there is room. */
function heads(layout: Layout, columns: readonly ColumnHead[], palette: Palette): void {
  for (const { name, detail, altered, left, width } of columns) {
    const said = name.find((text) => textWidth(text, 13) <= width) ?? name[name.length - 1];
    layout.text(left, TOP - 34, said, 13, palette.muted);
    const added = detail.map(clean).find((text) => textWidth(text, 12) <= width);
    const color = altered ? palette.negative : palette.text;
    if (added) layout.text(left, TOP - 16, added, 12, color);
  }
}

function legend(layout: Layout, { scales }: Facts, bottom: number, palette: Palette): number {
  const y = bottom + 12;
  let x = 0;
  for (const sign of ["positive", "negative"] as const) {
    layout.rect(x, y - 5, 10, 10, { fill: palette[sign] });
    layout.text(x + 14, y, sign, 12, palette.muted);
    x += 14 + textWidth(sign, 12) + 16;
  }
  const [vector, product] = [number(scales.vector.value), number(scales.product.value)];
  const strongest = `strongest colour ±${vector} (q, k), ±${product} (q × k)`;
  layout.text(x, y, strongest, 12, palette.muted);
  return y + 8;
}

function notesOf({ facts, expanded }: NeuronPicture, { first, end }: Places): readonly string[] {
  const { shown, data } = facts;
  const total = Math.max(shown.queries.length, shown.keys.length);
  return [
    total > IN_FULL ? `rows ${first}–${Math.min(end, total) - 1} of ${total}` : "",
    facts.muted.value.length ? "hatched: muted, outlined: the model’s own" : "",
    facts.comparison.value ? "hatched bars: compared query" : "",
    expanded ? rotaryText(data.info.rotary) : "",
    data.info.program ? "" : "kept as weights",
  ];
}
