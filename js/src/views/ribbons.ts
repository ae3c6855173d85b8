/** The attention of the tokens looked at: a ribbon to every other token, and a strip beside it. */

import { otherSide } from "../locks.ts";
import type { Track } from "../parts/track.ts";
import type { Side } from "../state.ts";
import { alpha } from "../theme.ts";
import type { Axes } from "./axes.ts";

export interface Ribbons {
  readonly axes: Axes;
  readonly tracks: Readonly<Record<Side, Track>>;
  readonly across: number;
  /** The side that is looked at, and its units. */
  readonly side: Side;
  readonly from: readonly number[];
  /** Per head, the weights towards the other side, summed over those units. */
  readonly strips: readonly Float32Array[];
  readonly colors: readonly string[];
}

/** Weights below this are not drawn; the share of attention that is says what that leaves out. */
export const FAINTEST = 0.0005;

/** Width of a head's strip beside the tokens, and how much of the room all of them may take. */
const STRIP = 9;
const STRIPS_AT_MOST = 0.3;

/** Width of a ribbon of weight 1, and how much of a row all its ribbons together may take. */
const WIDEST = 7;
const OF_ROW = 0.85;

/** Opacity is the weight to this power: small weights can still be followed. */
const SHADE = 0.75;

/** Whatever is drawn is drawn at least this wide; its opacity says how little it is. */
const THINNEST = 1.2;

export function paintRibbons(target: CanvasRenderingContext2D, ribbons: Ribbons): void {
  const { axes, tracks, across, side, from, strips, colors } = ribbons;
  const [own, other] = [axes[side], axes[otherSide(side)]];
  const [ownTrack, track] = [tracks[side], tracks[otherSide(side)]];
  const forward = side === "query";
  const inset = Math.min(STRIP * strips.length, across * STRIPS_AT_MOST);
  const stripe = inset / strips.length;
  const [near, far] = forward ? [0, across - inset] : [across, inset];
  const third = (far - near) / 3;

  // Sums of several tokens may exceed 1, and several heads meet at one token.
  const totals = other.shown.map((unit) => strips.reduce((sum, strip) => sum + strip[unit], 0));
  const largest = Math.max(1, ...strips.map((strip) => Math.max(...strip)));
  const narrowest = Math.min(...other.shown.map((_, at) => track.size(at)));
  const widest = Math.min(WIDEST, (OF_ROW * narrowest) / Math.max(1, ...totals));

  strips.forEach((_, n) => {
    // A trace of its colour says which strip is whose, also where there is nothing in it.
    target.fillStyle = alpha(colors[n], 0.05);
    target.fillRect(forward ? far + n * stripe : n * stripe, 0, stripe, track.length);
  });
  other.shown.forEach((unit, at) => {
    let y = track.middle(at) - (widest * totals[at]) / 2;
    strips.forEach((strip, n) => {
      const weight = strip[unit];
      const width = widest * weight;
      y += width;
      if (weight < FAINTEST) return;
      const shade = alpha(colors[n], (weight / largest) ** SHADE);
      target.strokeStyle = shade;
      target.lineWidth = Math.max(THINNEST, width);
      const to = y - width / 2;
      for (const start of from) {
        const origin = ownTrack.middle(own.shown.indexOf(start));
        target.beginPath();
        target.moveTo(near, origin);
        target.bezierCurveTo(near + third, origin, far - third, to, far, to);
        target.stroke();
      }
      target.fillStyle = shade;
      const x = forward ? far + n * stripe : n * stripe;
      target.fillRect(x, track.start(at) + 1, stripe, track.size(at) - 2);
    });
  });
}
