/** Paints the map: axes, the null, points and labels; above them, what follows the pointer. */

import type { Head, Metric, Position } from "../../data/manifest.ts";
import { headPlace } from "../../data/pairing.ts";
import { strokeBox } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import { fontOf, number, textMeasure } from "../../parts/text.ts";
import { alpha, type Palette } from "../../styles/palette.ts";
import { sameHead } from "../shared/all-heads/heads.ts";
import { strokeLines } from "../shared/curves.ts";
import { isFree, LABEL_FONT, type Label, placesOf } from "./labels.ts";
import type { Frame, MapLayout, Point, Scale } from "./layout.ts";

/** What changes on the map while its layout stays. */
interface Look {
  readonly palette: Palette;
  colorOf(head: Head): string;
  /** True if a head is faded, since others are marked. */
  isFaded(head: Head): boolean;
}

const OPACITY = { point: 0.62, faded: 0.12 } as const;
const FONT = fontOf(12);
/** The least width of a band. */
const THINNEST = 4;
/** Half of the length of a "+". */
const PLUS = 3;

export function paintMap(painter: Painter, layout: MapLayout, look: Look): void {
  const { palette } = look;
  const { frame, scales, placing } = layout;
  painter.textBaseline = "middle";
  painter.font = FONT;
  if (scales && placing.axes) paintAxes(painter, layout, scales, placing.axes, palette);
  else {
    painter.strokeStyle = palette.border;
    painter.lineWidth = 1;
    painter.beginPath();
    painter.roundRect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top, 6);
    painter.stroke();
    write(painter, placing.note, frame.left + 8, frame.bottom - 12, palette.muted);
  }
  paintNull(painter, layout, palette);
  for (const point of layout.points) {
    const faded = look.isFaded(point.head);
    painter.globalAlpha = faded ? OPACITY.faded : OPACITY.point;
    painter.fillStyle = look.colorOf(point.head);
    traceCircle(painter, point, point.radius);
    painter.fill();
    painter.globalAlpha = faded ? OPACITY.faded : 1;
    painter.strokeStyle = palette.background;
    painter.lineWidth = 1;
    painter.stroke();
  }
  painter.globalAlpha = 1;
  paintLegend(painter, layout, palette);
}

function traceCircle(painter: Painter, { x, y }: Pick<Point, "x" | "y">, radius: number) {
  painter.beginPath();
  painter.roundRect(x - radius, y - radius, 2 * radius, 2 * radius, radius);
}

function paintAxes(
  painter: Painter,
  { frame, ranges }: MapLayout,
  [x, y]: readonly [Scale, Scale],
  axes: readonly [x: Metric, y: Metric],
  palette: Palette,
): void {
  const { left, top, right, bottom } = frame;
  painter.fillStyle = alpha(palette.muted, palette.dark ? 0.2 : 0.16);
  const [across, up] = ranges.map((range, side) => range?.map((value) => [x, y][side].at(value)));
  if (across)
    painter.fillRect(across[0], top, Math.max(THINNEST, across[1] - across[0]), bottom - top);
  if (up) painter.fillRect(left, up[1], right - left, Math.max(THINNEST, up[0] - up[1]));
  const [xTitle, yTitle] = axes.map(({ label, unit, directions }) => {
    const ends = directions ? ` (← ${directions[0]}, ${directions[1]} →)` : "";
    return `${label}${unit && `, ${unit}`}${ends}`;
  });
  painter.fillStyle = alpha(palette.border, 0.6);
  for (const tick of x.ticks) painter.fillRect(Math.round(x.at(tick)), top, 1, bottom - top);
  for (const tick of y.ticks) painter.fillRect(left, Math.round(y.at(tick)), right - left, 1);
  painter.textAlign = "center";
  for (const tick of x.ticks) {
    write(painter, number(tick, x.digits), x.at(tick), bottom + 14, palette.muted);
  }
  write(painter, xTitle, (left + right) / 2, bottom + 36, palette.text);
  painter.textAlign = "right";
  for (const tick of y.ticks) {
    write(painter, number(tick, y.digits), left - 8, y.at(tick), palette.muted);
  }
  painter.save();
  painter.translate(8, (top + bottom) / 2);
  painter.rotate(-Math.PI / 2);
  painter.textAlign = "center";
  write(painter, yTitle, 0, 0, palette.text);
  painter.restore();
  painter.textAlign = "left";
}

function paintNull(painter: Painter, { nulls }: MapLayout, palette: Palette): void {
  painter.strokeStyle = palette.muted;
  painter.lineWidth = 1;
  painter.globalAlpha = 0.8;
  const plus = ([x, y]: Position) =>
    [
      [x - PLUS, y, x + PLUS, y],
      [x, y - PLUS, x, y + PLUS],
    ] as const;
  strokeLines(painter, ...nulls.flatMap(plus));
  painter.globalAlpha = 1;
}

/** The sizes of points, links and the null, below the map. */
function paintLegend(painter: Painter, layout: MapLayout, palette: Palette): void {
  const { placing, size, sizes, linked, ranges, withNull } = layout;
  const y = layout.height - 14;
  let x = layout.frame.left;
  painter.font = LABEL_FONT;
  const words = (text: string) => {
    write(painter, text, x, y, palette.muted);
    x += painter.measureText(text).width;
  };
  if (size && sizes.length) {
    words(`|${size.label}|`);
    x += 14;
    for (const [magnitude, radius] of sizes) {
      painter.fillStyle = alpha(palette.muted, 0.5);
      traceCircle(painter, { x: x + radius, y }, radius);
      painter.fill();
      x += 2 * radius + 4;
      words(number(magnitude, Math.max(size.digits, 2)));
      x += 12;
    }
    x += 10;
  }
  if (linked) {
    painter.fillStyle = palette.accent;
    painter.fillRect(x, y - 1, 16, 2);
    x += 22;
    words("similar heads");
    x += 22;
  }
  if (!withNull) return;
  const sign = layout.nulls.length ? "+ null: " : "null: ";
  const inFull = `${sign}${placing.nullLabel}, 95% of them in grey`;
  const fits = x + painter.measureText(inFull).width <= layout.width;
  words(fits && ranges.some(Boolean) ? inFull : `${sign}${placing.nullLabel}`);
}

function write(painter: Painter, text: string, x: number, y: number, color: string): void {
  painter.fillStyle = color;
  painter.fillText(text, x, y);
}

interface Overlay extends Omit<Look, "isFaded"> {
  /** Those that there is room for beside what follows the pointer. */
  readonly labels: readonly Label[];
  /** The chosen head, and the one that is looked at; null if it has no place. */
  readonly chosen: Point | null;
  readonly focused: Point | null;
  /** The heads nearest to the one that is looked at. */
  readonly nearest: readonly Point[];
  /** The heads that are switched off. */
  readonly off: readonly Point[];
  /** The rectangle that the reader drags; null for none. */
  readonly brush: Frame | null;
}

const BOLD = fontOf(13, 600);
const HEIGHT = 16;
/** The width of the widest ring with its gap. */
const RING = 6;

/** Paint what follows the pointer: rings, links to similar heads, the brush; and the labels. */
export function paintOverlay(painter: Painter, layout: MapLayout, overlay: Overlay): void {
  const { frame, points } = layout;
  const { chosen, focused, nearest, brush, labels, palette } = overlay;
  painter.textBaseline = "middle";
  painter.lineWidth = 2;
  painter.strokeStyle = alpha(palette.accent, 0.75);
  for (const { x, y } of focused ? nearest : []) {
    strokeLines(painter, [focused?.x ?? 0, focused?.y ?? 0, x, y]);
  }
  for (const point of nearest) ringed(painter, overlay, point, 1.5, 2);
  if (chosen) ringed(painter, overlay, chosen, 4.5, 2.5);
  if (focused && !sameHead(focused.head, chosen?.head ?? null)) {
    ringed(painter, overlay, focused, 3, 2);
  }
  for (const point of overlay.off) crossed(painter, palette, point);
  const rings = [focused, chosen, ...nearest].flatMap((point) =>
    point ? [{ ...point, radius: point.radius + RING }] : [],
  );
  const taken: Label[] = [];
  /** @param always true for a label even where no place is free */
  const label = (point: Point, font: string, always: boolean) => {
    const { head } = point;
    const [text, measure] = [headPlace(head), textMeasure(font)];
    const places = placesOf(point, measure, frame);
    const below = labels.find((other) => other.text === text);
    const width = measure(text);
    // On top of the label below, which may be narrower, from the end that is at the point.
    const own = below && {
      ...below,
      width,
      x: below.x < point.x ? below.x + below.width - width : below.x,
    };
    const free = places.filter((place) => isFree(place, taken, rings, head));
    const placed =
      own && isFree(own, taken, rings, head)
        ? own
        : (free.find((place) => isFree(place, labels, points, head)) ??
          free[0] ??
          (always ? places[0] : null));
    if (!placed) return;
    taken.push(placed);
    painter.fillStyle = alpha(palette.background, 0.8);
    painter.fillRect(placed.x - 2, placed.y - HEIGHT / 2, placed.width + 4, HEIGHT);
    painter.font = font;
    write(painter, placed.text, placed.x, placed.y, palette.text);
  };
  if (focused) label(focused, BOLD, true);
  if (chosen && !sameHead(focused?.head ?? null, chosen.head)) label(chosen, BOLD, true);
  for (const point of nearest) label(point, LABEL_FONT, false);
  painter.font = LABEL_FONT;
  for (const each of labels) {
    if (isFree(each, taken, rings)) write(painter, each.text, each.x, each.y, palette.text);
  }
  if (!brush) return;
  const box = [brush.left, brush.top, brush.right - brush.left, brush.bottom - brush.top] as const;
  painter.fillStyle = alpha(palette.accent, 0.08);
  painter.fillRect(...box);
  strokeBox(painter, box, palette.accent);
}

/** A cross over a point. */
function crossed(painter: Painter, palette: Palette, { x, y, radius }: Point): void {
  const arm = radius + 2;
  for (const [color, width] of [
    [palette.background, 4],
    [palette.text, 1.8],
  ] as const) {
    painter.strokeStyle = color;
    painter.lineWidth = width;
    const [left, top, right, bottom] = [x - arm, y - arm, x + arm, y + arm];
    strokeLines(painter, [left, top, right, bottom], [left, bottom, right, top]);
  }
}

/** A point in its full colour, with a ring around it. */
function ringed(
  painter: Painter,
  { palette, colorOf }: Overlay,
  point: Point,
  gap: number,
  width: number,
): void {
  traceCircle(painter, point, point.radius + gap);
  painter.fillStyle = palette.background;
  painter.fill();
  painter.strokeStyle = palette.accent;
  painter.lineWidth = width;
  painter.stroke();
  traceCircle(painter, point, point.radius);
  painter.fillStyle = colorOf(point.head);
  painter.fill();
}
