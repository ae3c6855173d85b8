/** Ribbons to very many tokens: the strongest one by one, and the others merged. */

import type { Merged } from "../../raster/paint-ribbons.ts";
import { otherSide } from "../../state/locks.ts";
import { rgb } from "../../styles/palette.ts";
import { FAINTEST, type Ribbon, type Ribbons, shadeOf, THINNEST, WIDEST } from "./ribbons.ts";

/** The least number of ribbons to merge. */
export const MANY_RIBBONS = 400;

/** The most ribbons that are not merged. */
const STRONGEST = 30;

/** The least width of a ribbon of weight 1, even if it covers its neighbours. */
const BOLD = 4;

/** The number of bins of the histogram that finds the strongest. */
const BINS = 512;

export interface ManyRibbons {
  /** The ends of the others, with a cell per CSS pixel. */
  readonly merged: readonly Merged[];
  /** Sorted, the strongest last. */
  readonly strongest: readonly Ribbon[];
}

export function manyRibbons({ axes, tracks, side, series }: Ribbons): ManyRibbons {
  const [axis, other] = [axes[side], axes[otherSide(side)]];
  const [originTrack, track] = [tracks[side], tracks[otherSide(side)]];
  const { shown } = other;
  const parts = series.flatMap(({ color, parts }) =>
    parts.map((part) => ({ ...part, color, ink: rgb(color) })),
  );

  // Weights beyond those of a softmax may exceed 1.
  let largest = 1;
  for (const { weights } of parts)
    for (const weight of weights) largest = Math.max(largest, weight);
  const binOf = (weight: number) => Math.floor(Math.sqrt(weight / largest) * (BINS - 1));
  const counts = new Uint32Array(BINS);
  for (const { weights } of parts) for (const unit of shown) counts[binOf(weights[unit])]++;
  let [bin, above] = [BINS, 0];
  while (bin > 0 && above + counts[bin - 1] <= STRONGEST) above += counts[--bin];

  const height = Math.ceil(track.length);
  const widest = Math.min(WIDEST, Math.max(BOLD, track.size(0)));
  const strongest: Ribbon[] = [];
  const merged = [...new Set(parts.map(({ from }) => from))].map((from) => {
    const start = originTrack.middle(axis.places[from]);
    const ends = new Float32Array(4 * height);
    for (const part of parts) {
      if (part.from !== from) continue;
      const { weights, color, ink } = part;
      for (let at = 0; at < shown.length; at++) {
        const weight = weights[shown[at]];
        if (weight < FAINTEST) continue;
        const opacity = shadeOf(weight / largest);
        if (binOf(weight) >= bin) {
          const width = Math.max(THINNEST, (widest * weight) / largest);
          strongest.push({ start, end: track.middle(at), width, color, opacity });
          continue;
        }
        const pixel = Math.min(height - 1, Math.floor(track.middle(at)));
        // Blurred, since a single pixel may fall between two pixels of the screen.
        add(ends, 4 * pixel, ink, opacity);
        add(ends, 4 * Math.max(0, pixel - 1), ink, opacity / 2);
        add(ends, 4 * Math.min(height - 1, pixel + 1), ink, opacity / 2);
      }
    }
    return { start, ends };
  });
  strongest.sort((a, b) => a.opacity - b.opacity);
  return { merged, strongest };
}

/** Add premultiplied red, green and blue, and opacity. */
function add(sums: Float32Array, at: number, ink: readonly number[], opacity: number): void {
  for (let n = 0; n < 3; n++) sums[at + n] += opacity * ink[n];
  sums[at + 3] += opacity;
}
