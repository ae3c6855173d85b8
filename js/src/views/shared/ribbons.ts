/** The ribbons from the focused tokens to every other token, with a strip beside them. */

import { largestOf, smallestOf } from "../../basics/extremes.ts";
import type { Painter } from "../../painting/painter.ts";
import type { Track } from "../../parts/track.ts";
import { otherSide } from "../../state/locks.ts";
import type { Side } from "../../state/state.ts";
import { alpha } from "../../styles/palette.ts";
import type { Axes } from "./axes.ts";
import { strokeCurve } from "./curves.ts";

/** The weights of a head from the focused units, in its colour; or those from one of them. */
export interface Series {
  readonly color: string;
  /** The weights to the other side, summed over the parts: the shades of a strip. */
  readonly weights: Float32Array;
  /** The weights from each focused unit: the ribbons that start there. */
  readonly parts: readonly { readonly from: number; readonly weights: Float32Array }[];
}

/** The space between queries and keys. */
export interface Between {
  readonly axes: Axes;
  readonly tracks: Readonly<Record<Side, Track>>;
  /** The distance between queries and keys, in CSS pixels. */
  readonly across: number;
}

export interface Ribbons extends Between {
  /** The side with the focus. */
  readonly side: Side;
  readonly series: readonly Series[];
}

/** A ribbon; its places and its width are in CSS pixels. */
export interface Ribbon {
  readonly start: number;
  readonly end: number;
  readonly width: number;
  readonly color: string;
  readonly opacity: number;
}

/** The faintest weight that is drawn; the legend shows the percentage of attention drawn. */
export const FAINTEST = 0.0005;

/** The width of a strip, and the most that all strips take of the width. */
const STRIP = 9;
const STRIPS_AT_MOST = 0.3;

/** The width of a ribbon of weight 1, and the most that all ribbons take of a row. */
export const WIDEST = 7;
const OF_ROW = 0.85;

/** The opacity of a weight: its power of 3/4, so that small weights stay visible. */
export const shadeOf = (weight: number) => Math.sqrt(weight * Math.sqrt(weight));

/** The least width of a ribbon. */
export const THINNEST = 1.2;

/** The ends of the ribbons, and the strips beside them. */
export function spanOf({ side, series, across }: Ribbons) {
  const forward = side === "query";
  const inset = Math.min(STRIP * series.length, across * STRIPS_AT_MOST);
  const [near, far] = forward ? [0, across - inset] : [across, inset];
  return { forward, inset, stripe: inset / series.length, near, far, strips: forward ? far : 0 };
}

/** The least opacity of a strip, which shows whose it is. */
export const TRACE = 0.05;

/** The space above and below the weight of a token in a strip. */
export const APART = 1;

/** Every ribbon, from the lowest to the topmost. */
export function ribbonsOf({ axes, tracks, side, series }: Ribbons): readonly Ribbon[] {
  const [axis, other] = [axes[side], axes[otherSide(side)]];
  const [originTrack, track] = [tracks[side], tracks[otherSide(side)]];
  // Sums over several tokens may exceed 1, and the ribbons of several heads meet at a token.
  const totals = other.shown.map((unit) =>
    series.reduce((sum, { weights }) => sum + weights[unit], 0),
  );
  const narrowest = smallestOf(other.shown.map((_, at) => track.size(at)));
  const widest = Math.min(WIDEST, (OF_ROW * narrowest) / Math.max(1, largestOf(totals)));
  const out: Ribbon[] = [];
  other.shown.forEach((unit, at) => {
    let y = track.middle(at) - (widest * totals[at]) / 2;
    for (const { color, parts } of series) {
      for (const { from, weights } of parts) {
        const width = widest * weights[unit];
        y += width;
        if (weights[unit] < FAINTEST) continue;
        out.push({
          start: originTrack.middle(axis.places[from]),
          end: y - width / 2,
          width: Math.max(THINNEST, width),
          color,
          opacity: shadeOf(weights[unit]),
        });
      }
    }
  });
  return out;
}

/** The weight that has the full shade of a strip: sums over several tokens may exceed 1. */
export const fullShade = ({ series }: Ribbons) =>
  Math.max(1, ...series.map(({ weights }) => largestOf(weights)));

/** Stroke every ribbon, and fill the strips. */
export function strokeRibbons(painter: Painter, ribbons: Ribbons): void {
  const { axes, tracks, side, series } = ribbons;
  const [other, track] = [axes[otherSide(side)], tracks[otherSide(side)]];
  const { stripe, near, far, strips } = spanOf(ribbons);
  for (const { start, end, width, color, opacity } of ribbonsOf(ribbons)) {
    painter.strokeStyle = alpha(color, opacity);
    painter.lineWidth = width;
    strokeCurve(painter, near, start, far, end);
  }
  const largest = fullShade(ribbons);
  series.forEach(({ color, weights }, n) => {
    const left = strips + n * stripe;
    painter.fillStyle = alpha(color, TRACE);
    painter.fillRect(left, 0, stripe, track.length);
    other.shown.forEach((unit, at) => {
      if (weights[unit] < FAINTEST) return;
      painter.fillStyle = alpha(color, shadeOf(weights[unit] / largest));
      painter.fillRect(left, track.start(at) + APART, stripe, track.size(at) - 2 * APART);
    });
  });
}
