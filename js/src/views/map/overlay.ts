/** Paints what follows the pointer over the map: rings, links to similar heads, the brush. */

import type { Head } from "../../data/manifest.ts";
import type { Painter } from "../../painting/painter.ts";
import { fontOf, textMeasure } from "../../parts/text.ts";
import { alpha, type Palette } from "../../styles/palette.ts";
import { covers, type Label, overlap, placedLabel, sameHead, shortName } from "./labels.ts";
import type { Frame, MapLayout, Point } from "./layout.ts";
import { traceCircle } from "./paint.ts";

export interface Overlay {
  readonly layout: MapLayout;
  /** The chosen head, and the one that is looked at; null if it has no place. */
  readonly chosen: Point | null;
  readonly focused: Point | null;
  /** The heads nearest to the one that is looked at. */
  readonly nearest: readonly Point[];
  /** The heads that are switched off. */
  readonly off: readonly Point[];
  /** The labels below. */
  readonly labels: readonly Label[];
  /** The rectangle that the reader drags; null for none. */
  readonly brush: Frame | null;
  readonly palette: Palette;
  colorOf(head: Head): string;
}

const BOLD = fontOf(13, 600);
const PLAIN = fontOf(11);
const HEIGHT = 16;
/** The width of the widest ring with its gap. */
const RING = 6;

export function paintOverlay(painter: Painter, overlay: Overlay): void {
  const { layout, chosen, focused, nearest, brush, palette } = overlay;
  painter.textBaseline = "middle";
  painter.lineWidth = 2;
  painter.strokeStyle = alpha(palette.accent, 0.75);
  for (const point of focused ? nearest : []) {
    painter.beginPath();
    painter.moveTo(focused?.x ?? 0, focused?.y ?? 0);
    painter.lineTo(point.x, point.y);
    painter.stroke();
  }
  for (const point of nearest) ringed(painter, overlay, point, 1.5, 2);
  if (chosen) ringed(painter, overlay, chosen, 4.5, 2.5);
  if (focused && !sameHead(focused.head, chosen?.head ?? null)) {
    ringed(painter, overlay, focused, 3, 2);
  }
  for (const point of overlay.off) crossed(painter, palette, point);
  const ringedPoints = [focused, chosen, ...nearest].filter((point) => point !== null);
  const taken: Label[] = [...overlay.labels];
  /** @param always true for a label even where no place is free */
  const label = (point: Point, font: string, always: boolean) => {
    const text = shortName(point.head);
    const width = textMeasure(font)(text);
    const isFree = (free: Label) =>
      taken.every((other) => !overlap(free, other)) &&
      ringedPoints.every((other) => other === point || !covers(free, withRing(other)));
    const below = overlay.labels.find((other) => other.text === text);
    const placed = below
      ? { ...below, width, x: below.x < point.x ? below.x + below.width - width : below.x }
      : (placedLabel(point, text, width, layout.frame, isFree) ??
        (always ? placedLabel(point, text, width, layout.frame, () => true) : null));
    if (!placed) return;
    taken.push(placed);
    painter.fillStyle = alpha(palette.background, 0.8);
    painter.fillRect(placed.x - 2, placed.y - HEIGHT / 2, width + 4, HEIGHT);
    painter.fillStyle = palette.text;
    painter.font = font;
    painter.fillText(text, placed.x, placed.y);
  };
  if (focused) label(focused, BOLD, true);
  if (chosen && !sameHead(focused?.head ?? null, chosen.head)) label(chosen, BOLD, true);
  for (const point of nearest) label(point, PLAIN, false);
  if (!brush) return;
  const box = [brush.left, brush.top, brush.right - brush.left, brush.bottom - brush.top] as const;
  painter.fillStyle = alpha(palette.accent, 0.08);
  painter.fillRect(...box);
  painter.lineWidth = 1;
  painter.strokeStyle = palette.accent;
  painter.strokeRect(...box);
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
    painter.beginPath();
    painter.moveTo(x - arm, y - arm);
    painter.lineTo(x + arm, y + arm);
    painter.moveTo(x - arm, y + arm);
    painter.lineTo(x + arm, y - arm);
    painter.stroke();
  }
}

/** The circle around a point and its ring. */
const withRing = ({ x, y, radius }: Point) => ({ x, y, radius: radius + RING });

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
