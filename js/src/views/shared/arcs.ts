/** Links that somebody has annotated, over the lines: solid where a head finds them. */

import { type ReadonlySignal, signal } from "@preact/signals-core";
import { type AttentionMatrix, isSigned } from "../../data/attention-matrix.ts";
import { type Arc, ownName } from "../../data/manifest.ts";
import type { Painter } from "../../painting/painter.ts";
import { fontOf, type Phrase, token } from "../../parts/text.ts";
import { otherSide } from "../../state/locks.ts";
import type { Side, State } from "../../state/state.ts";
import { alpha, type Palette } from "../../styles/palette.ts";
import { type Axes, type Axis, type FocusedUnits, sameText, sideOf, unitsAt } from "./axes.ts";
import { strokeCurve } from "./curves.ts";
import { total } from "./heads/matrices.ts";
import type { Between } from "./ribbons.ts";

/** An arc whose tokens are shown. */
export interface DrawnArc {
  readonly label: string;
  readonly by: Side;
  /** Its units by side. */
  readonly query: readonly number[];
  readonly key: readonly number[];
  /** True if the head's largest weight lies on it; null while weights are missing, or of B − A. */
  readonly hit: boolean | null;
}

/** Dashes of an arc that the head misses, in CSS pixels. */
const DASHES = [6, 4];
const WIDTH = 1.6;
/** With more arcs, only those of focused tokens have labels. */
const MOST_LABELS = 24;
const FONT = fontOf(10.5);
const LABEL_HEIGHT = 13;
const PADDING = 3;
/** The place of a label on the way from the side that decides, and how far a curve has bent there. */
const LABEL_AT = 0.2;
const BENT = 3 * LABEL_AT ** 2 - 2 * LABEL_AT ** 3;
const FADED = 0.15;

export const NO_ARCS: ReadonlySignal<readonly DrawnArc[]> = signal([]);

/** The arcs of a stack. Those of the first record of a comparison are of B and of B − A, too. */
export function arcsOf({ arcs, manifest }: State, stack: string): readonly Arc[] {
  const names = [stack, ownName(manifest.value, stack)];
  return arcs.value.filter((arc) => names.includes(arc.stack));
}

/** The arcs whose tokens are shown, with what a head makes of them. */
export function drawnArcs(
  arcs: readonly Arc[],
  axes: Axes,
  matrix: AttentionMatrix,
): readonly DrawnArc[] {
  const unitsOf = (axis: Axis, [start, end]: readonly [number, number]) =>
    unitsAt(axis, [...axis.units.of.keys()].slice(start, end));
  const same = sameText(axes);
  /** Special tokens do not count, nor those that decide, where both sides are the same text. */
  const hits = (by: Side, units: FocusedUnits): boolean | null => {
    // The largest change is not where a head attends, nor the largest score of a column.
    if (isSigned(matrix) || (by === "key" && !matrix.hasColumns())) return null;
    const of = (unit: number) => (by === "query" ? matrix.row(unit) : matrix.column(unit));
    const weights = total(units[by].map(of));
    if (weights.some(Number.isNaN)) return null;
    const far = otherSide(by);
    const left = new Set([...axes[far].units.special, ...(same ? units[by] : [])]);
    let [largest, found] = [0, -1];
    weights.forEach((weight, unit) => {
      if (weight > largest && !left.has(unit)) [largest, found] = [weight, unit];
    });
    return units[far].includes(found);
  };
  return arcs.flatMap(({ label, by, ...ends }) => {
    const [query, key] = [unitsOf(axes.query, ends.query), unitsOf(axes.key, ends.key)];
    if (!query.length || !key.length) return [];
    return [{ label, by, query, key, hit: hits(by, { query, key }) }];
  });
}

/** Stroke arcs, those of unfocused tokens faintly, and write their labels. */
export function paintArcs(
  painter: Painter,
  arcs: readonly DrawnArc[],
  { axes, tracks, across }: Between,
  horizontal: boolean,
  focused: FocusedUnits,
  palette: Palette,
): void {
  const side = sideOf(focused);
  const isFocused = (arc: DrawnArc) =>
    side === null || arc[side].some((unit) => focused[side].includes(unit));
  const middle = (arc: DrawnArc, of: Side) => {
    const places = arc[of].map((unit) => tracks[of].middle(axes[of].places[unit]));
    return places.reduce((sum, place) => sum + place, 0) / places.length;
  };
  painter.lineWidth = WIDTH;
  for (const arc of arcs) {
    painter.strokeStyle = alpha(palette.text, isFocused(arc) ? 1 : FADED);
    painter.setLineDash(arc.hit ? [] : DASHES);
    strokeCurve(painter, 0, middle(arc, "query"), across, middle(arc, "key"));
  }
  painter.setLineDash([]);
  painter.font = FONT;
  painter.textAlign = "center";
  painter.textBaseline = "middle";
  for (const arc of arcs) {
    if (!arc.label || !isFocused(arc) || (side === null && arcs.length > MOST_LABELS)) continue;
    const [start, end] = [middle(arc, arc.by), middle(arc, otherSide(arc.by))];
    const x = across * (arc.by === "query" ? LABEL_AT : 1 - LABEL_AT);
    const y = start + BENT * (end - start);
    const width = painter.measureText(arc.label).width + 2 * PADDING;
    painter.save();
    painter.transform(1, 0, 0, 1, x, y);
    // The drawing is transposed where tokens stand side by side, but its text is not.
    if (horizontal) painter.transform(0, 1, 1, 0, 0, 0);
    painter.fillStyle = alpha(palette.background, 0.85);
    painter.fillRect(-width / 2, -LABEL_HEIGHT / 2, width, LABEL_HEIGHT);
    painter.fillStyle = palette.text;
    painter.fillText(arc.label, 0, 0);
    painter.restore();
  }
}

/** "Head 3 finds 5 of 7 annotated links"; "" if that is not known of any. */
export function arcsCount(arcs: readonly DrawnArc[], name: string): string {
  const known = arcs.filter(({ hit }) => hit !== null);
  if (!known.length) return "";
  const hit = known.filter((arc) => arc.hit);
  return `${name} finds ${hit.length} of ${known.length} annotated links`;
}

/** The arcs of the focused tokens: "obj: eat → apples, found". */
export function arcsPhrase(arcs: readonly DrawnArc[], axes: Axes, focused: FocusedUnits): Phrase {
  const side = sideOf(focused);
  if (side === null) return [];
  return arcs
    .filter((arc) => arc[side].some((unit) => focused[side].includes(unit)))
    .slice(0, 2)
    .flatMap((arc) => [
      ` · ${arc.label || "link"} `,
      token(axes.query.names[arc.query[0]]),
      " → ",
      token(axes.key.names[arc.key[0]]),
      arc.hit === null ? "" : arc.hit ? " found" : " missed",
    ]);
}
