/** Paints ribbons from the focused tokens to every other token, with a strip beside them. */

import { largestOf, smallestOf } from "../../data/extremes.ts";
import type { Painter } from "../../painting/painter.ts";
import type { Track } from "../../parts/track.ts";
import { otherSide } from "../../state/locks.ts";
import type { Side } from "../../state/state.ts";
import { alpha } from "../../styles/palette.ts";
import type { Axes } from "./axes.ts";
import { strokeCurve } from "./curves.ts";

export interface Ribbons {
  readonly axes: Axes;
  readonly tracks: Readonly<Record<Side, Track>>;
  readonly across: number;
  /** The side with the focus, and the focused units on it. */
  readonly side: Side;
  readonly from: readonly number[];
  /** The weights to the other side, summed over the focused units, by head. */
  readonly strips: readonly Float32Array[];
  readonly colors: readonly string[];
}

/** The faintest weight that is drawn; the legend shows the percentage of attention drawn. */
export const FAINTEST = 0.0005;

/** The width of a head's strip, and the most that all strips take of the width. */
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
export function spanOf({ side, strips, across }: Ribbons) {
  const forward = side === "query";
  const inset = Math.min(STRIP * strips.length, across * STRIPS_AT_MOST);
  const [near, far] = forward ? [0, across - inset] : [across, inset];
  return { forward, inset, stripe: inset / strips.length, near, far, strips: forward ? far : 0 };
}

/** The least opacity of a strip, which shows whose it is. */
export const TRACE = 0.05;

export function paintRibbons(painter: Painter, ribbons: Ribbons): void {
  const { axes, tracks, side, from, strips, colors } = ribbons;
  const [axis, other] = [axes[side], axes[otherSide(side)]];
  const [originTrack, track] = [tracks[side], tracks[otherSide(side)]];
  const { stripe, near, far, strips: left } = spanOf(ribbons);

  // Sums over several tokens may exceed 1, and the ribbons of several heads meet at a token.
  const totals = other.shown.map((unit) => strips.reduce((sum, strip) => sum + strip[unit], 0));
  const largest = Math.max(1, ...strips.map(largestOf));
  const narrowest = smallestOf(other.shown.map((_, at) => track.size(at)));
  const widest = Math.min(WIDEST, (OF_ROW * narrowest) / Math.max(1, largestOf(totals)));

  strips.forEach((_, n) => {
    painter.fillStyle = alpha(colors[n], TRACE);
    painter.fillRect(left + n * stripe, 0, stripe, track.length);
  });
  other.shown.forEach((unit, at) => {
    let y = track.middle(at) - (widest * totals[at]) / 2;
    strips.forEach((strip, n) => {
      const weight = strip[unit];
      const width = widest * weight;
      y += width;
      if (weight < FAINTEST) return;
      const shade = alpha(colors[n], shadeOf(weight / largest));
      painter.strokeStyle = shade;
      painter.lineWidth = Math.max(THINNEST, width);
      const to = y - width / 2;
      for (const start of from) {
        const origin = originTrack.middle(axis.places[start]);
        strokeCurve(painter, near, origin, far, to);
      }
      painter.fillStyle = shade;
      painter.fillRect(left + n * stripe, track.start(at) + 1, stripe, track.size(at) - 2);
    });
  });
}
