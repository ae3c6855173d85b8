/** Paints ribbons to very many tokens: strokes the strongest, and merges the others. */

import { ease } from "../../kernels/ease.ts";
import type { Painter } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import type { Track } from "../../parts/track.ts";
import { otherSide } from "../../state/locks.ts";
import { alpha, rgb } from "../../styles/palette.ts";
import { strokeCurve } from "./curves.ts";
import { FAINTEST, type Ribbons, shadeOf, spanOf, THINNEST, TRACE, WIDEST } from "./ribbons.ts";

/** The least number of ribbons to merge, and the longest column in CSS pixels to merge them in. */
export const MANY_RIBBONS = 400;
export const LONGEST_MERGED = 3000;

/** The most ribbons that are stroked, since strokes are slow. */
const STROKED = 30;

/** The number of sizes in which the ends of merged ribbons are kept. */
const SIZES = 4;

/** The width of the slices in which merged ribbons are drawn. */
const SLICE = 2;

/** The least width of a ribbon of weight 1, even if it covers its neighbours. */
const BOLD = 4;

/** The number of bins of the histogram that finds the strongest. */
const BINS = 512;

/** Canvases that are reused, since creating them is slow. */
export interface RibbonBuffers {
  /** Each half as high as the one before, since browsers shrink images badly. */
  readonly ends: readonly HTMLCanvasElement[];
  readonly strips: HTMLCanvasElement;
}

export const ribbonBuffers = (): RibbonBuffers => ({
  ends: Array.from({ length: SIZES }, () => el("canvas")),
  strips: el("canvas"),
});

export function paintManyRibbons(
  painter: Painter,
  ribbons: Ribbons,
  buffers: RibbonBuffers,
  ratio: number,
): void {
  const { axes, tracks, side, series } = ribbons;
  const [axis, other] = [axes[side], axes[otherSide(side)]];
  const [originTrack, track] = [tracks[side], tracks[otherSide(side)]];
  const { shown } = other;
  const span = spanOf(ribbons);
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
  while (bin > 0 && above + counts[bin - 1] <= STROKED) above += counts[--bin];

  const height = Math.ceil(track.length);
  const strongest: { at: number; origin: number; color: string; weight: number }[] = [];
  for (const start of new Set(parts.map(({ from }) => from))) {
    const origin = originTrack.middle(axis.places[start]);
    const ends = new Float32Array(4 * height);
    for (const { from, weights, color, ink } of parts) {
      if (from !== start) continue;
      for (let at = 0; at < shown.length; at++) {
        const weight = weights[shown[at]];
        if (weight < FAINTEST) continue;
        if (binOf(weight) >= bin) strongest.push({ at, origin, color, weight });
        else {
          const pixel = Math.min(height - 1, Math.floor(track.middle(at)));
          const shade = shadeOf(weight / largest);
          // Blurred, since a single pixel may fall between two pixels of the screen.
          add(ends, 4 * pixel, ink, shade);
          add(ends, 4 * Math.max(0, pixel - 1), ink, shade / 2);
          add(ends, 4 * Math.min(height - 1, pixel + 1), ink, shade / 2);
        }
      }
    }
    let sums = ends;
    for (const buffer of buffers.ends) {
      fill(buffer, endsImage(sums));
      sums = halved(sums);
    }
    paintEnds(painter, buffers.ends, origin, span.near, span.far);
  }

  // Draw the strongest last, on top.
  strongest.sort((a, b) => a.weight - b.weight);
  const widest = Math.min(WIDEST, Math.max(BOLD, track.size(0)));
  for (const { at, origin, color, weight } of strongest) {
    painter.strokeStyle = alpha(color, shadeOf(weight / largest));
    painter.lineWidth = Math.max(THINNEST, (widest * weight) / largest);
    strokeCurve(painter, span.near, origin, span.far, track.middle(at));
  }
  paintStrips(painter, ribbons, buffers.strips, track, shown, ratio);
}

/** Add premultiplied red, green and blue, and opacity. */
function add(sums: Float32Array, at: number, ink: readonly number[], opacity: number): void {
  for (let n = 0; n < 3; n++) sums[at + n] += opacity * ink[n];
  sums[at + 3] += opacity;
}

/** An image one pixel wide: the ends of the merged ribbons. */
function endsImage(sums: Float32Array): ImageData {
  const image = new ImageData(1, sums.length / 4);
  for (let at = 0; at < sums.length; at += 4) {
    const opacity = sums[at + 3];
    if (opacity === 0) continue;
    for (let n = 0; n < 3; n++) image.data[at + n] = sums[at + n] / opacity;
    image.data[at + 3] = 255 * Math.min(1, opacity);
  }
  return image;
}

function halved(sums: Float32Array): Float32Array<ArrayBuffer> {
  const out = new Float32Array(4 * Math.ceil(sums.length / 8));
  for (let at = 0; at < sums.length; at++) out[4 * (at >> 3) + (at & 3)] += sums[at] / 2;
  return out;
}

/** Paint merged ribbons: their ends, shrunk towards the origin along the curve. */
function paintEnds(
  painter: Painter,
  ends: readonly HTMLCanvasElement[],
  origin: number,
  near: number,
  far: number,
): void {
  const width = Math.abs(far - near);
  for (let x = 0; x < width; x += SLICE) {
    const way = ease(Math.min(1, (x + SLICE / 2) / width));
    const left = far > near ? near + x : near - x - SLICE;
    const size = Math.min(ends.length - 1, Math.floor(-Math.log2(way)));
    painter.drawImage(ends[size], left, origin * (1 - way), SLICE, ends[0].height * way);
  }
}

/** Paint the strips: by pixel, the largest weight of the tokens there. */
function paintStrips(
  painter: Painter,
  ribbons: Ribbons,
  buffer: HTMLCanvasElement,
  track: Track,
  shown: readonly number[],
  ratio: number,
): void {
  const { series } = ribbons;
  const span = spanOf(ribbons);
  // Sums over several tokens may exceed 1.
  let largest = 1;
  for (const { weights } of series)
    for (const weight of weights) largest = Math.max(largest, weight);
  const height = Math.ceil(track.length * ratio);
  const image = new ImageData(series.length, height);
  const most = new Float32Array(height);
  series.forEach(({ color, weights }, n) => {
    most.fill(0);
    for (let at = 0; at < shown.length; at++) {
      const weight = weights[shown[at]];
      if (weight < FAINTEST) continue;
      const start = track.start(at) * ratio;
      const end = Math.min(height, start + track.size(at) * ratio);
      for (let y = Math.floor(start); y < end; y++) if (weight > most[y]) most[y] = weight;
    }
    const ink = rgb(color);
    for (let y = 0; y < height; y++) {
      const at = 4 * (y * series.length + n);
      const shade = most[y] > 0 ? shadeOf(most[y] / largest) : 0;
      image.data[at] = ink[0];
      image.data[at + 1] = ink[1];
      image.data[at + 2] = ink[2];
      image.data[at + 3] = 255 * Math.max(TRACE, shade);
    }
  });
  painter.imageSmoothingEnabled = false;
  fill(buffer, image);
  painter.drawImage(buffer, span.strips, 0, span.inset, height / ratio);
}

function fill(buffer: HTMLCanvasElement, image: ImageData): void {
  if (buffer.width !== image.width) buffer.width = image.width;
  if (buffer.height !== image.height) buffer.height = image.height;
  buffer.getContext("2d")?.putImageData(image, 0, 0);
}
