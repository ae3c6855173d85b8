/** Paints ribbons from the focused tokens to every other token, with a strip beside them. */

import { largestOf, smallestOf } from "../../data/extremes.ts";
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

export interface Ribbons {
  readonly axes: Axes;
  readonly tracks: Readonly<Record<Side, Track>>;
  readonly across: number;
  /** The side with the focus. */
  readonly side: Side;
  readonly series: readonly Series[];
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

export function paintRibbons(painter: Painter, ribbons: Ribbons): void {
  const { axes, tracks, side, series } = ribbons;
  const [axis, other] = [axes[side], axes[otherSide(side)]];
  const [originTrack, track] = [tracks[side], tracks[otherSide(side)]];
  const { stripe, near, far, strips: left } = spanOf(ribbons);

  // Sums over several tokens may exceed 1, and the ribbons of several heads meet at a token.
  const totals = other.shown.map((unit) =>
    series.reduce((sum, { weights }) => sum + weights[unit], 0),
  );
  const largest = Math.max(1, ...series.map(({ weights }) => largestOf(weights)));
  const narrowest = smallestOf(other.shown.map((_, at) => track.size(at)));
  const widest = Math.min(WIDEST, (OF_ROW * narrowest) / Math.max(1, largestOf(totals)));

  series.forEach(({ color }, n) => {
    painter.fillStyle = alpha(color, TRACE);
    painter.fillRect(left + n * stripe, 0, stripe, track.length);
  });
  other.shown.forEach((unit, at) => {
    let y = track.middle(at) - (widest * totals[at]) / 2;
    series.forEach(({ color, weights, parts }, n) => {
      for (const { from, weights } of parts) {
        const width = widest * weights[unit];
        y += width;
        if (weights[unit] < FAINTEST) continue;
        painter.strokeStyle = alpha(color, shadeOf(weights[unit]));
        painter.lineWidth = Math.max(THINNEST, width);
        strokeCurve(painter, near, originTrack.middle(axis.places[from]), far, y - width / 2);
      }
      if (weights[unit] < FAINTEST) return;
      painter.fillStyle = alpha(color, shadeOf(weights[unit] / largest));
      painter.fillRect(left + n * stripe, track.start(at) + 1, stripe, track.size(at) - 2);
    });
  });
}
