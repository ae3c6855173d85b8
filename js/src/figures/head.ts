/** The head view as a figure: tokens, the lines between them, and the matrix beside them. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { Layer } from "../data/layer.ts";
import type { Side, Zoom } from "../state/state.ts";
import { headColors, textOn } from "../styles/head-colors.ts";
import type { Palette } from "../styles/theme.ts";
import { type Axes, type Look, sideOf } from "../views/shared/axes.ts";
import { partOf, rowsOf, columnsOf as zoomedColumns } from "../views/shared/matrix/part.ts";
import {
  type Column,
  type Columns,
  columnsOf,
  FUNNEL,
  GAP,
  labelAt,
  PADDING,
  railOf,
  STRIP,
  tipAt,
} from "./columns.ts";
import { allLines, ribbons } from "./lines.ts";
import { matrixFigure } from "./matrix.ts";
import { Layout, MARGIN, type Scene, type Shape } from "./scene.ts";
import { mixed, shorten, smallPrint } from "./text.ts";

/** What the view shows. */
export interface HeadPicture {
  readonly data: Layer;
  readonly axes: Axes;
  readonly look: Look;
  readonly matrices: readonly AttentionMatrix[];
  readonly pictured: AttentionMatrix;
  /** "Layer 2", or "" where all layers are one. */
  readonly where: string;
  readonly lying: boolean;
  readonly palette: Palette;
  /** Where either column of a long text begins, and the part of its matrix. */
  readonly begin: Readonly<Record<Side, number | null>>;
  readonly zoom: Zoom | null;
  readonly model: string;
}

const BETWEEN = 40;
const TITLE = 14;
const SWATCH = { width: 30, height: 20, gap: 6 };
const FADED = 0.62;

export function headScene(picture: HeadPicture): Scene {
  const shapes: Shape[] = [];
  const [width, height] = headPart(picture, new Layout(shapes, MARGIN, MARGIN));
  const { background } = picture.palette;
  return { width: width + 2 * MARGIN, height: height + 2 * MARGIN, background, shapes };
}

/** Draws the view from a place on; returns the width and height that it takes. */
export function headPart(picture: HeadPicture, layout: Layout): [number, number] {
  const { data, axes, look, matrices, pictured, where, lying, palette, model } = picture;
  if (where && !data.whole) {
    throw new Error("not all of this layer is here; widget.save_figure in the notebook has it");
  }
  const columns = columnsOf(axes, look, lying, picture.begin);
  const { query, key } = columns;
  const side = sideOf(look);
  const own = headColors(data.info.heads, palette.dark);
  const colors = matrices.map(({ head }) => (head === null ? palette.ink : own[head]));

  const rails = railOf(query) + railOf(key);
  const across = query.across + key.across + columns.across + rails + 2 * GAP;
  const [wide, high] = lying ? [columns.length, across] : [across, columns.length];
  const single = matrices[0].head !== null;
  const named = [where, single ? "" : matrices[0].name].filter(Boolean).join(" · ");
  layout.text(0, TITLE / 2, named, TITLE, palette.text, { bold: true });
  const top = single ? swatches(layout, 30, wide, matrices, colors) : 30;

  const strips = side && stripsOf(matrices, side, look[side]);
  const body = layout.at(0, top, lying);
  sides(body, picture, columns, strips, colors);
  const between = body.at(query.across + railOf(query) + GAP, 0);
  const drawn =
    side && strips
      ? ribbons(between, axes, columns, side, look[side], strips, colors, palette)
      : allLines(between, axes, columns, matrices, colors);

  const place = lying ? layout.at(0, top + high + BETWEEN) : layout.at(wide + BETWEEN, 0);
  const title = [where, pictured.name].filter(Boolean).join(" · ");
  const size = matrixFigure(place, palette, axes, pictured, title, look, zoomedTo(picture));
  const [width, height] = lying
    ? [Math.max(wide, size[0]), top + high + BETWEEN + size[1]]
    : [wide + BETWEEN + size[0], Math.max(top + high, size[1])];
  const notes = [windows(columns, axes), drawn, model];
  return [width, smallPrint(layout, width, height, notes, palette.muted)];
}

function zoomedTo({ axes, zoom }: HeadPicture) {
  const [rows, columns] = [axes.query.shown.length, axes.key.shown.length];
  // Its size on the screen makes no difference to what is in it.
  const part = partOf({ rows, columns, room: 1000 }, zoom);
  return part.whole ? null : { rows: rowsOf(part), columns: zoomedColumns(part) };
}

/** Per matrix, the row or column of what is looked at, summed where several are. */
function stripsOf(matrices: readonly AttentionMatrix[], side: Side, units: readonly number[]) {
  return matrices.map((matrix) => {
    const rows = units.map((unit) => (side === "query" ? matrix.row(unit) : matrix.column(unit)));
    return rows[0].map((_, n) => rows.reduce((sum, row) => sum + row[n], 0));
  });
}

/** The number of every head drawn on its colour; returns what is below them. */
function swatches(
  layout: Layout,
  top: number,
  room: number,
  matrices: readonly AttentionMatrix[],
  colors: readonly string[],
): number {
  const { width, height, gap } = SWATCH;
  const perRow = Math.max(1, Math.floor((room + gap) / (width + gap)));
  matrices.forEach(({ head }, n) => {
    const x = (n % perRow) * (width + gap);
    const y = top + Math.floor(n / perRow) * (height + gap);
    layout.rect(x, y, width, height, { fill: colors[n], radius: 5 });
    const ink = textOn(colors[n]);
    layout.text(x + width / 2, y + height / 2, `${head}`, 12, ink, { anchor: "middle" });
  });
  return top + Math.ceil(matrices.length / perRow) * (height + gap) + 10;
}

function sides(
  body: Layout,
  picture: HeadPicture,
  columns: Columns,
  strips: readonly Float32Array[] | null,
  colors: readonly string[],
): void {
  const { look, axes } = picture;
  const { query, key } = columns;
  for (const side of ["query", "key"] as const) {
    const column = columns[side];
    const met = side === sideOf(look) ? null : strips;
    const x =
      side === "query" ? 0 : query.across + railOf(query) + columns.across + 2 * GAP + railOf(key);
    const found = new Set(look[side]);
    const emphasis = strips
      ? axes[side].units.labels.map((_, unit) =>
          met ? Math.max(...met.map((strip) => strip[unit])) : Number(found.has(unit)),
        )
      : null;
    labels(body.at(x, 0), picture, side, column, emphasis);
    if (!column.long) continue;
    // Beside the lines: the gap is between the rail and its labels.
    const inner = side === "query" ? query.across + GAP : x - railOf(column) - GAP;
    rail(body.at(inner, 0), picture, columns, side, met, colors);
  }
}

function labels(
  body: Layout,
  { axes, look, palette }: HeadPicture,
  side: Side,
  { starts, first, end, across, font }: Column,
  emphasis: readonly number[] | null,
): void {
  const { shown, units } = axes[side];
  const special = new Set(units.special);
  for (let at = first; at < end; at++) {
    const unit = shown[at];
    const [start, size] = [starts[at] - starts[first], starts[at + 1] - starts[at]];
    const bold = look[side].includes(unit);
    if (bold) {
      const stroke = { stroke: palette.accent, line: 1.5, radius: 4 };
      body.rect(0, start, across, size, { fill: palette.highlight, ...stroke });
    }
    const kept = !emphasis || bold ? 1 : FADED + (1 - FADED) * Math.min(1, emphasis[unit]);
    const color =
      !emphasis && special.has(unit)
        ? palette.muted
        : `#${mixed(palette.background, palette.text, kept)}`;
    const room = (body.lying ? size : across) - 2 * PADDING;
    const text = shorten(units.labels[unit], room + 2, font, true);
    const weight = bold ? { bold } : {};
    const middle = start + size / 2;
    if (body.lying) {
      body.text(across / 2, middle, text, font, color, { anchor: "middle", ...weight });
    } else if (side === "query") {
      body.text(across - PADDING, middle, text, font, color, { anchor: "end", ...weight });
    } else body.text(PADDING, middle, text, font, color, weight);
  }
}

/** What joins the labels in sight to the lines of the whole text. */
function rail(
  body: Layout,
  { axes, look, palette }: HeadPicture,
  columns: Columns,
  side: Side,
  met: readonly Float32Array[] | null,
  colors: readonly string[],
): void {
  const [column, { borders, shown, places }] = [columns[side], axes[side]];
  const { starts, ends, first, end } = column;
  // From the labels to the strip: to the right of the queries, to the left of the keys.
  const [near, far] = side === "query" ? [0, FUNNEL] : [FUNNEL + STRIP, STRIP];
  const left = side === "query" ? far : 0;
  const [from, to] = [ends[first], ends[end]];
  body.rect(left, 0, STRIP, columns.length, { fill: palette.panel });
  const frame = { fill: palette.highlight, stroke: palette.accent, line: 1.5 };
  body.rect(left, from, STRIP, to - from, frame);
  const funnel = (start: number, stop: number, color: string, width: number, opacity = 1) => {
    const middle = (near + far) / 2;
    const points = [near, start, middle, start, middle, stop, far, stop];
    body.curve(points, color, width, opacity < 1 ? { opacity } : {});
  };
  funnel(0, from, palette.border, 1);
  funnel(starts[end] - starts[first], to, palette.border, 1);
  for (const at of borders) body.rect(left, ends[at] - 0.5, STRIP, 1, { fill: palette.muted });
  for (let at = first; met && at < end; at++) {
    const weights = met.map((strip) => strip[shown[at]]);
    const weight = Math.min(1, Math.max(...weights));
    if (weight < 0.01) continue;
    const color = colors[weights.indexOf(Math.max(...weights))];
    funnel(labelAt(column, at), tipAt(column, at), color, 1.2 + 3 * weight, weight ** 0.75);
  }
  for (const unit of look[side]) {
    const at = places[unit];
    body.rect(left, tipAt(column, at) - 1.5, STRIP, 3, { fill: palette.accent });
    if (at >= first && at < end) funnel(labelAt(column, at), tipAt(column, at), palette.text, 1.5);
  }
}

/** Which labels there is room for, where not for all. */
function windows(columns: Columns, axes: Axes): string {
  const sides = { query: "queries", key: "keys" } as const;
  return (["query", "key"] as const)
    .filter((side) => columns[side].long)
    .map((side) => {
      const { shown, units } = axes[side];
      const { first, end } = columns[side];
      return `${sides[side]} ${shown[first]}–${shown[end - 1]} of ${units.labels.length} are named`;
    })
    .join(", ");
}
