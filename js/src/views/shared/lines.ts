/** The lines between queries and keys, with the ribbons of the focused tokens above them. */

import { type ReadonlySignal, signal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import {
  asPicture,
  canvasRatio,
  imageCanvas,
  paintCanvas,
  paintInFigures,
} from "../../painting/canvas.ts";
import type { Paint } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import { ranges } from "../../parts/text.ts";
import type { Track } from "../../parts/track.ts";
import type { LinesJob } from "../../raster/lines-job.ts";
import type { Ink } from "../../raster/mixer.ts";
import { overviewOf } from "../../raster/overview.ts";
import { areFew } from "../../raster/paint-curves.ts";
import { rasterize } from "../../raster/run.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { otherSide } from "../../state/locks.ts";
import type { Side } from "../../state/state.ts";
import { rgb } from "../../styles/palette.ts";
import { type Axes, type FocusedUnits, sideOf } from "./axes.ts";
import { paintCurves } from "./curves.ts";
import { LONGEST_MERGED, MANY_RIBBONS, paintManyRibbons, ribbonBuffers } from "./many-ribbons.ts";
import { FAINTEST, paintRibbons, type Series } from "./ribbons.ts";

export interface LinesOptions {
  readonly axes: Axes;
  readonly tracks: Readonly<Record<Side, Track>>;
  /** The distance between queries and keys, in CSS pixels. */
  readonly across: number;
  readonly horizontal: boolean;
  readonly matrices: ReadonlySignal<readonly AttentionMatrix[]>;
  readonly colors: ReadonlySignal<readonly string[]>;
  readonly focused: ReadonlySignal<FocusedUnits>;
  /** The weights from the focused units; null if there are none. */
  readonly series: ReadonlySignal<readonly Series[] | null>;
}

export interface Lines {
  readonly element: HTMLElement;
  /** The percentage of attention that is drawn; null until all lines are. */
  readonly share: ReadonlySignal<number | null>;
}

export function lines(scope: Scope, options: LinesOptions): Lines {
  const { axes, tracks, across, horizontal, matrices, colors, focused, series } = options;
  const [rows, columns] = [axes.query.shown, axes.key.shown];
  const base = el("canvas", { class: "base" });
  const overlay = el("canvas", { class: "overlay" });
  const stripNames = el("div", { class: "strip-names" });
  const element = el("div", { class: "lines", "aria-hidden": "true" }, base, overlay, stripNames);
  const length = Math.max(tracks.query.length, tracks.key.length);
  const size: [number, number] = horizontal ? [length, across] : [across, length];
  [element.style.width, element.style.height] = size.map((side) => `${side}px`);
  const share = signal<number | null>(100);
  const buffers = ribbonBuffers();

  /** Transpose a drawing from left to right for a horizontal layout. */
  const upright = (paint: Paint): Paint =>
    horizontal
      ? (painter, ratio) => {
          painter.transform(0, 1, 1, 0, 0, 0);
          paint(painter, ratio);
        }
      : paint;

  scope.effect(() => paintAll(matrices.value, colors.value.map(rgb)));
  scope.effect(() => {
    const side = sideOf(focused.value);
    base.classList.toggle("dimmed", side !== null);
    stripNames.hidden = !series.value;
    stripNames.classList.toggle("right", side === "query");
    stripNames.textContent = headsIn(matrices.value);
    if (!series.value || !side) {
      paintCanvas(overlay, ...size, () => {});
      return;
    }
    const shown = { axes, tracks, across, side, series: series.value };
    const ribbons: Paint = (painter) => paintRibbons(painter, shown);
    const starts = series.value.reduce((sum, { parts }) => sum + parts.length, 0);
    const count = starts * axes[otherSide(side)].shown.length;
    // The cost of merged ribbons is proportional to the length of the column.
    if (count <= MANY_RIBBONS || length >= LONGEST_MERGED) {
      paintCanvas(overlay, ...size, upright(ribbons));
      return;
    }
    const merged: Paint = (painter, ratio) => paintManyRibbons(painter, shown, buffers, ratio);
    const inFigures = areFew(count) ? ribbons : asPicture(across, length, merged);
    paintCanvas(overlay, ...size, upright(merged), upright(inFigures));
  });

  function paintAll(all: readonly AttentionMatrix[], inks: readonly Ink[]): () => void {
    const coarse = overviewOf(all);
    const drawn = coarse?.matrices ?? all;
    const [from, to] = [coarse?.rows ?? rows, coarse?.columns ?? columns];
    const cells = (track: Track, count: number, ratio: number) =>
      Float32Array.from({ length: count }, (_, at) =>
        coarse ? ((at + 0.5) / count) * track.length * ratio : track.middle(at) * ratio,
      );
    const jobAt = (ratio: number): LinesJob => ({
      rows: from,
      columns: to,
      from: cells(tracks.query, from.length, ratio),
      to: cells(tracks.key, to.length, ratio),
      width: Math.max(1, Math.round(across * ratio)),
      height: Math.max(1, Math.round(length * ratio)),
      inks,
      ratio,
      faintest: FAINTEST,
    });
    const few = areFew(from.length * to.length);
    const curves = upright((painter) => paintCurves(painter, drawn, jobAt(1)));
    if (few) paintInFigures(base, curves);
    const ratio = Math.min(canvasRatio(...size), length > 2000 ? 1 : devicePixelRatio);
    const job = jobAt(ratio);
    return rasterize("lines", drawn, job, (pixels, drawnShare) => {
      const buffer = imageCanvas(new ImageData(pixels, job.width, job.height));
      const picture = upright((painter) => painter.drawImage(buffer, 0, 0, across, length));
      paintCanvas(base, ...size, picture, few ? curves : picture);
      share.value = drawnShare;
    });
  }

  return { element, share };
}

/** The heads of the strips, from left to right. */
function headsIn(matrices: readonly AttentionMatrix[]): string {
  const heads = matrices.map(({ head }) => head).filter((head) => head !== null);
  return heads.length > 1 ? `heads ${ranges(heads)}` : matrices[0].name;
}
