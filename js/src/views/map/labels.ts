/** The names of heads on the map, as "24-4", and the points that have theirs beside them. */

import type { Head } from "../../data/manifest.ts";
import { headPlace } from "../../data/pairing.ts";
import { fontOf, textMeasure } from "../../parts/text.ts";
import { sameHead } from "../shared/all-heads/heads.ts";
import type { Frame, MapLayout, Point } from "./layout.ts";

export interface Label {
  readonly text: string;
  /** The left end and the middle of the text. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** The most labels, and the most points that may get one. */
const MOST = 14;
const CANDIDATES = 60;
const FONT_SIZE = 11;
const HEIGHT = 14;
/** The least space between two labels side by side. */
const APART = 6;
/** The space between a point and its label, in which the point's ring has room. */
const GAP = 8;

export const LABEL_FONT = fontOf(FONT_SIZE);

/** The labels of the largest points, or of those farthest from the others if all are alike. */
export function notableLabels({ points, frame, sizes }: MapLayout): readonly Label[] {
  const measure = textMeasure(LABEL_FONT);
  const notable = sizes.length ? points : farthestFirst(points);
  const labels: Label[] = [];
  for (const point of notable.slice(0, CANDIDATES)) {
    if (labels.length === MOST) break;
    const places = placesOf(point, measure, frame);
    const label = places.find((place) => isFree(place, labels, points, point.head));
    if (label) labels.push(label);
  }
  return labels;
}

/** The labels of a point on the map: right, left, above and below it. */
export function placesOf(
  { head, x, y, radius }: Point,
  measure: (text: string) => number,
  { left, top, right, bottom }: Frame,
): readonly Label[] {
  const text = headPlace(head);
  const width = measure(text);
  const away = radius + GAP;
  const places = [
    { text, width, x: x + away, y },
    { text, width, x: x - away - width, y },
    { text, width, x: x - width / 2, y: y - away - HEIGHT / 2 },
    { text, width, x: x - width / 2, y: y + away + HEIGHT / 2 },
  ];
  return places.filter(
    ({ x, y }) =>
      x >= left && x + width <= right && y - HEIGHT / 2 >= top && y + HEIGHT / 2 <= bottom,
  );
}

/** True if a label of a head, or of none, overlaps no other, and covers no other head's point. */
export const isFree = (
  label: Label,
  labels: readonly Label[],
  points: readonly Point[],
  own: Head | null = null,
): boolean =>
  labels.every((other) => !overlap(label, other)) &&
  points.every((other) => sameHead(other.head, own) || !covers(label, other));

export const overlap = (a: Label, b: Label): boolean =>
  a.x < b.x + b.width + APART && b.x < a.x + a.width + APART && Math.abs(a.y - b.y) < HEIGHT;

/** True if a label covers a part of a circle. */
export function covers(label: Label, { x, y, radius }: Omit<Point, "head">): boolean {
  const across = Math.max(label.x - x, 0, x - label.x - label.width);
  const down = Math.max(Math.abs(label.y - y) - HEIGHT / 2, 0);
  return across ** 2 + down ** 2 < radius ** 2;
}

/** In the order of their distance from the middle of all points. */
function farthestFirst(points: readonly Point[]): readonly Point[] {
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))];
  const distance = (point: Point) => Math.hypot(point.x - x, point.y - y);
  return [...points].sort((a, b) => distance(b) - distance(a));
}

/** The heads that share their keys with this one, as "18-3…18-5"; "" if none does. */
export function groupName({ layer, head }: Head): string {
  const size = layer.heads / layer.key_heads;
  if (size === 1) return "";
  const first = Math.floor(head / size) * size;
  return `${headPlace({ layer, head: first })}…${headPlace({ layer, head: first + size - 1 })}`;
}
