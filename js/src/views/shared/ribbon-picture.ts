/** The ribbons of the focused tokens and their strips as one picture, for the screen. */

import { type Ribbon as Curve, paintRibbons } from "../../raster/paint-ribbons.ts";
import { otherSide } from "../../state/locks.ts";
import { rgb } from "../../styles/palette.ts";
import {
  APART,
  FAINTEST,
  fullShade,
  type Ribbon,
  type Ribbons,
  ribbonsOf,
  shadeOf,
  spanOf,
  THINNEST,
  TRACE,
  WIDEST,
} from "./ribbons.ts";

/** The number of ribbons, also of those that are too faint to be drawn. */
export const countOf = ({ axes, side, series }: Ribbons): number =>
  series.reduce((sum, { parts }) => sum + parts.length, 0) * axes[otherSide(side)].shown.length;

/**
 * Draw the picture, without a transform for horizontal layouts.
 *
 * @param length of the lines along the tokens, in CSS pixels
 * @param show gets the picture, which holds until it returns
 */
export function ribbonPicture(
  ribbons: Ribbons,
  length: number,
  ratio: number,
  show: (image: ImageData) => void,
): void {
  const { across } = ribbons;
  const [width, height] = [across, length].map((side) => Math.max(1, Math.round(side * ratio)));
  const { forward, near, far, stripe, strips } = spanOf(ribbons);
  const [first, end] = [near, far].sort((a, b) => a - b).map((x) => Math.round(x * ratio));
  const isMany = countOf(ribbons) > MANY_RIBBONS;
  const { merged, strongest } = isMany
    ? manyRibbons(ribbons)
    : { merged: [], strongest: ribbonsOf(ribbons) };
  const curves = strongest.map(({ start, end, width, color, opacity }) => ({
    start: start * ratio,
    end: end * ratio,
    thickness: width * ratio,
    ink: rgb(color),
    opacity,
  }));
  const job = {
    width,
    height,
    first,
    end,
    forward,
    merged: merged.map(({ start, ends }) => ({ start: start * ratio, ends })),
    cell: ratio,
    ribbons: joined(curves),
  };
  paintRibbons(job, (pixels) => {
    fillStrips(pixels);
    show(new ImageData(pixels, width, height));
  });

  /** Fill the strips: by row of pixels, the largest weight of the tokens there. */
  function fillStrips(pixels: Uint8ClampedArray): void {
    const { axes, tracks, side, series } = ribbons;
    const [{ shown }, track] = [axes[otherSide(side)], tracks[otherSide(side)]];
    const largest = fullShade(ribbons);
    const down = Math.min(height, Math.round(track.length * ratio));
    // Many tokens have no space between them.
    const apart = isMany ? 0 : APART;
    const place = (at: number) => Math.min(down, Math.round(at * ratio));
    const from = shown.map((_, at) => place(track.start(at) + apart));
    // A token may be less than a pixel.
    const to = from.map((first, at) =>
      Math.max(first + 1, place(track.start(at) + track.size(at) - apart)),
    );
    // The rows of pixels that may differ from the one above.
    const differs = new Uint8Array(down);
    for (const y of [0, ...from, ...to]) differs[y] = 1;
    const edge = (n: number) => Math.round((strips + n * stripe) * ratio);
    const bars = series.map(({ color, weights }, n) => {
      const most = new Float32Array(down);
      shown.forEach((unit, at) => {
        const weight = weights[unit];
        if (weight < FAINTEST) return;
        for (let y = from[at]; y < to[at]; y++) if (weight > most[y]) most[y] = weight;
      });
      return { most, ink: rgb(color), left: edge(n), right: edge(n + 1) };
    });
    // Written a pixel at a time.
    const whole = new Uint32Array(pixels.buffer, pixels.byteOffset, width * height);
    const bytes = new Uint8ClampedArray(4);
    const word = new Uint32Array(bytes.buffer);
    for (let y = 0, start = 0; y < down; y++, start += width) {
      if (differs[y])
        for (const { most, ink, left, right } of bars) {
          const shade = shadeOf(most[y] / largest);
          bytes.set(ink);
          bytes[3] = 255 * (isMany ? Math.max(TRACE, shade) : TRACE + (1 - TRACE) * shade);
          whole.fill(word[0], start + left, start + right);
        }
      else {
        const above = start - width;
        whole.copyWithin(start + edge(0), above + edge(0), above + edge(series.length));
      }
    }
  }
}

/** The least number of ribbons to merge. */
const MANY_RIBBONS = 400;

/** The most ribbons that are not merged. */
const STRONGEST = 30;

/** The least width of a ribbon of weight 1, even if it covers its neighbours. */
const BOLD = 4;

/** The number of bins of the histogram that finds the strongest. */
const BINS = 512;

/**
 * Ribbons to very many tokens: the strongest one by one, the strongest last, and the ends of the
 * others merged, with a cell per CSS pixel.
 */
function manyRibbons({ axes, tracks, side, series }: Ribbons) {
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

/** The distance in pixels within which ribbons of the same thickness look like one. */
const AS_ONE = 0.5;

/** Join consecutive ribbons that look like one: many weights are small, and end side by side. */
function joined(curves: readonly Curve[]): readonly Curve[] {
  const out: Curve[] = [];
  let first = Number.NaN;
  for (const curve of curves) {
    const last = out.at(-1);
    const alike = last && last.start === curve.start && last.thickness === curve.thickness;
    if (alike && Math.abs(curve.end - first) < AS_ONE) out[out.length - 1] = over(curve, last);
    else {
      out.push(curve);
      first = curve.end;
    }
  }
  return out;
}

/** A ribbon on top of another one that is nearly at the same place. */
function over(top: Curve, below: Curve): Curve {
  const left = below.opacity * (1 - top.opacity);
  const opacity = top.opacity + left;
  const mean = (a: number, b: number) => (top.opacity * a + left * b) / opacity;
  const part = (n: 0 | 1 | 2) => mean(top.ink[n], below.ink[n]);
  return {
    ...top,
    end: mean(top.end, below.end),
    ink: [part(0), part(1), part(2)],
    opacity,
  };
}
