/** The model view as a figure: every head's thumbnail, with the means of a number beside them. */

import type { Thumbnail } from "../data/codec.ts";
import type { Measure, StackInfo } from "../data/manifest.ts";
import { shownSegments } from "../data/thumbnails.ts";
import type { Phrase } from "../parts/text.ts";
import type { Choices, Sort } from "../state/choices.ts";
import { isPair, shownTokens } from "../state/shown.ts";
import type { Palette } from "../styles/theme.ts";
import type { Coloring } from "../views/model/color.ts";
import { briefly, longName } from "../views/model/measures.ts";
import { type Head, placeOf, type Row } from "../views/model/order.ts";
import { sampledText } from "../views/model/status.ts";
import { type Means, meanName, meansOf } from "../views/model/summary.ts";
import { aspectOf } from "../views/model/thumbnail.ts";
import { type HeadPicture, headPart } from "./head.ts";
import { Layout, MARGIN, type Scene, type Shape } from "./scene.ts";
import { mixed, smallPrint, textWidth } from "./text.ts";

/** What the view shows. */
export interface ModelPicture {
  readonly stack: StackInfo;
  readonly rows: readonly Row[];
  readonly sort: Sort;
  readonly measure: Measure;
  readonly coloring: Coloring;
  readonly kind: Choices["thumbnails"];
  readonly segments: Choices["segments"];
  readonly current: Head;
  /** What is opened below the heads, if anything is. */
  readonly opened: HeadPicture | null;
  readonly palette: Palette;
  readonly model: string;
  thumbnailOf(head: Head): Thumbnail;
}

const LEFT = 52;
const TOP = 36;
const ROOM = 1200;
const SUMMARY = 104;
const LARGEST = 200;
const SMALLEST = 32;
/** Of all pictures, as far as they can be told apart: a figure is for a page. */
const HEIGHT = 1200;
const GAPS = [4, 12] as const;
const BAR = 6;
const CAPTION = 15;
const NUMBER = 20;
/** Of the curves of a head, so many of the strongest are drawn. */
const CURVES = 160;

interface Sizes {
  readonly across: number;
  readonly down: number;
  /** From one picture, and one row, to the next. */
  readonly step: number;
  readonly pitch: number;
  readonly width: number;
}

export function modelScene(picture: ModelPicture): Scene {
  const { stack, rows, sort, kind, segments, coloring, current, palette } = picture;
  const shapes: Shape[] = [];
  const layout = new Layout(shapes, MARGIN, MARGIN);
  const sorted = sort !== "model";
  const aspect = aspectOf(kind, shownTokens(shownSegments(segments, stack), stack));
  const columns = Math.max(...rows.map(({ heads }) => heads.length));
  const largest = Math.min(Math.max(HEIGHT / rows.length, SMALLEST), LARGEST);
  const fitting = (ROOM - LEFT - SUMMARY) / columns;
  const gap = Math.min(Math.max(2 * Math.floor(fitting / 16), GAPS[0]), GAPS[1]);
  const room = Math.max(SMALLEST + gap, Math.min(largest + gap, fitting));
  const across = Math.floor(Math.min(room - gap, largest * aspect));
  const down = Math.round(across / aspect);
  const below = BAR + (sorted ? CAPTION : 0);
  const pitch = Math.max(down + below + Math.max(gap - 4, 6), NUMBER);
  const step = across + gap;
  const sizes = { across, down, step, pitch, width: LEFT + columns * step + SUMMARY };

  columnNames(layout, picture, sizes);
  rows.forEach((row, n) => {
    const y = TOP + n * pitch;
    const middle = y + down / 2;
    layout.text(LEFT / 2, middle, `${row.layer.number}`, 12, palette.muted, { anchor: "middle" });
    row.heads.forEach((head, column) => {
      const place = layout.at(LEFT + column * step + gap / 2, y);
      const own = { layer: row.layer, head };
      const ink = coloring.of(own);
      thumbnail(place, picture.thumbnailOf(own), kind, across, down, ink, palette);
      place.rect(4, down + 3, across - 8, 2.5, { fill: ink });
      if (sorted) {
        place.text(across / 2, down + 14, `${head}`, 11, palette.muted, { anchor: "middle" });
      }
      if (row.layer === current.layer && head === current.head) {
        const look = { stroke: palette.accent, line: 2.5, radius: 6 };
        place.rect(-2.5, -2.5, across + 5, down + below + 5, look);
      }
    });
  });
  const end = TOP + rows.length * pitch;
  const means = meansOf(rows, picture.measure);
  paintMeans(layout, means, sizes, end, palette);
  let [width, bottom] = [sizes.width, legend(layout, coloring.legend, end + 48, palette)];
  if (picture.opened && placeOf(rows, current)) {
    const opened = headPart(picture.opened, layout.at(0, bottom + 30));
    [width, bottom] = [Math.max(width, opened[0]), bottom + 30 + opened[1]];
  }
  const notes = [notesOf(picture), picture.model];
  const height = smallPrint(layout, width, bottom - 8, notes, palette.muted);
  const { background } = palette;
  return { width: width + 2 * MARGIN, height: height + 2 * MARGIN, background, shapes };
}

function thumbnail(
  place: Layout,
  { rows, columns, levels }: Thumbnail,
  kind: Choices["thumbnails"],
  across: number,
  down: number,
  ink: string,
  { paper }: Palette,
): void {
  if (kind === "matrix") {
    const shades = Array.from({ length: 16 }, (_, level) => mixed(paper, ink, level / 15));
    const pixels = Array.from(levels, (level) => shades[level]).join("");
    place.cells(0, 0, across, down, columns, pixels);
    return;
  }
  place.rect(0, 0, across, down, { fill: paper, radius: 4 });
  const order = Array.from(levels, (_, at) => at).filter((at) => levels[at] > 0);
  const strongest = order.sort((a, b) => levels[b] - levels[a] || a - b).slice(0, CURVES);
  const width = Math.min(1, down / Math.max(rows, columns) / 3);
  for (const at of strongest.sort((a, b) => a - b)) {
    const from = ((Math.floor(at / columns) + 0.5) / rows) * down;
    const to = (((at % columns) + 0.5) / columns) * down;
    place.bend([0, from, across, to], ink, width, { opacity: (levels[at] / 15) ** 1.5 });
  }
}

function columnNames(
  layout: Layout,
  { rows, sort, measure, palette: { muted } }: ModelPicture,
  { step, width }: Sizes,
): void {
  const middle = (TOP - 6) / 2;
  if (sort === "model") {
    layout.text(LEFT - 6, middle - 7, "head →", 12, muted, { anchor: "end" });
    layout.text(LEFT - 6, middle + 8, "layer ↓", 12, muted, { anchor: "end" });
    const longest = rows.reduce((a, b) => (b.heads.length > a.heads.length ? b : a));
    longest.heads.forEach((head, column) => {
      layout.text(LEFT + (column + 0.5) * step, middle, `${head}`, 12, muted, { anchor: "middle" });
    });
  } else {
    layout.text(LEFT - 6, middle, "layer ↓", 12, muted, { anchor: "end" });
    layout.text(LEFT + 2, middle, `${longName(sort)}, highest → lowest`, 12, muted);
  }
  layout.text(width - SUMMARY + 10, middle, meanName(measure), 12, muted);
}

/** Bars that start at zero and share one scale, for the rows and for the columns. */
function paintMeans(
  layout: Layout,
  { measure, rows, columns }: Means,
  { across, down, step, pitch, width }: Sizes,
  bottom: number,
  { muted, border }: Palette,
): void {
  const bar = (place: Layout, value: number, values: readonly number[], length: number) => {
    const [lowest, highest] = [Math.min(0, ...values), Math.max(0, ...values)];
    const whole = highest - lowest || 1;
    const start = ((Math.min(0, value) - lowest) / whole) * length;
    place.rect(0, -2, length, 4, { fill: border, radius: 2 });
    place.rect(start, -2, (Math.abs(value) / whole) * length, 4, { fill: muted, radius: 2 });
  };
  rows.forEach((value, n) => {
    const place = layout.at(width - SUMMARY + 10, TOP + n * pitch + down / 2);
    bar(place, value, rows, 52);
    place.text(60, 0, briefly(measure, value), 12, muted);
  });
  ["mean", measure].forEach((word, n) => {
    layout.text(LEFT - 6, bottom + 6 + 14 * n, word, 12, muted, { anchor: "end" });
  });
  columns.forEach((value, n) => {
    const place = layout.at(LEFT + n * step + (step - across) / 2, bottom + 6);
    bar(place, value, columns, across);
    if (step < 34) return;
    place.text(across / 2, 13, briefly(measure, value), 12, muted, { anchor: "middle" });
  });
}

/** Squares of colours with what they say; returns what is below them. */
function legend(layout: Layout, phrase: Phrase, y: number, { muted }: Palette): number {
  const pieces: { color: string | null; words: string }[] = [];
  for (const piece of phrase) {
    const color = typeof piece === "string" ? null : (piece.color ?? null);
    if (color || !pieces.length) pieces.push({ color, words: "" });
    if (!color) pieces[pieces.length - 1].words += typeof piece === "string" ? piece : piece.text;
  }
  let x = 0;
  for (const piece of pieces) {
    const [{ color }, words] = [piece, piece.words.trim()];
    if (!color && !words) continue;
    if (color) {
      layout.rect(x, y - 5, 10, 10, { fill: color });
      x += 14;
    }
    layout.text(x, y, words, 12, muted);
    x += textWidth(words, 12) + (words && color ? 16 : 4);
  }
  return y + 8;
}

function notesOf({ kind, stack, segments }: ModelPicture): string {
  const apart = shownSegments(segments, stack) !== "all";
  const whole = !apart ? "pictures and numbers are" : "numbers are";
  return [
    kind === "lines" ? `of each head up to ${CURVES} lines, the strongest` : "",
    sampledText(stack),
    segments === "all" || !isPair(stack) ? "" : `${whole} of whole heads`,
  ]
    .filter(Boolean)
    .join(" · ");
}
