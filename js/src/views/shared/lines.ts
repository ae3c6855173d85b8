/** The middle of the head view: all lines underneath, the looked-at tokens' own ribbons on top. */

import { type ReadonlySignal, signal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import { canvasRatio, el, sizeCanvas } from "../../parts/dom.ts";
import type { Track } from "../../parts/track.ts";
import { type Ink, linesPicture } from "../../raster/lines.ts";
import { overviewOf } from "../../raster/overview.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { otherSide } from "../../state/locks.ts";
import type { Side } from "../../state/state.ts";
import { rgb } from "../../styles/theme.ts";
import { type Axes, type Look, sideOf } from "./axes.ts";
import { FAN_FROM, fanBuffers, LARGEST_FAN, paintFan } from "./fan.ts";
import { FAINTEST, paintRibbons } from "./ribbons.ts";

export interface LinesOptions {
  readonly axes: Axes;
  readonly tracks: Readonly<Record<Side, Track>>;
  /** From the queries to the keys, in CSS pixels. */
  readonly across: number;
  readonly horizontal: boolean;
  readonly matrices: ReadonlySignal<readonly AttentionMatrix[]>;
  /** The colour of each matrix. */
  readonly colors: ReadonlySignal<readonly string[]>;
  readonly look: ReadonlySignal<Look>;
  /** Per matrix, the weights of the row or column looked at. */
  readonly strips: ReadonlySignal<readonly Float32Array[] | null>;
}

export interface Lines {
  readonly element: HTMLElement;
  /** The share of attention that is drawn, in percent; null while there is more to draw. */
  readonly share: ReadonlySignal<number | null>;
}

export function lines(scope: Scope, options: LinesOptions): Lines {
  const { axes, tracks, across, horizontal, matrices, colors, look, strips } = options;
  const [rows, columns] = [axes.query.shown, axes.key.shown];
  const base = el("canvas", { class: "base" });
  const overlay = el("canvas", { class: "overlay" });
  const element = el("div", { class: "lines", "aria-hidden": "true" }, base, overlay);
  const length = Math.max(tracks.query.length, tracks.key.length);
  const size: [number, number] = horizontal ? [length, across] : [across, length];
  [element.style.width, element.style.height] = size.map((side) => `${side}px`);
  const share = signal<number | null>(100);
  const buffers = fanBuffers();

  /** Drawn from left to right whatever the layout is: a line of tokens is a column on its side. */
  const open = (canvas: HTMLCanvasElement) => {
    const target = sizeCanvas(canvas, ...size);
    if (horizontal) target.transform(0, 1, 1, 0, 0, 0);
    return target;
  };

  scope.effect(() => {
    return paintAll(matrices.value, colors.value.map(rgb));
  });
  scope.effect(() => {
    const side = sideOf(look.value);
    base.classList.toggle("dimmed", side !== null);
    const target = open(overlay);
    if (!strips.value || !side) return;
    const from = look.value[side];
    const ribbons = axes[otherSide(side)].shown.length * strips.value.length * from.length;
    // A fan is as much work as it is large, however few its ribbons are.
    const fan = ribbons > FAN_FROM && length < LARGEST_FAN;
    const shown = {
      axes,
      tracks,
      across,
      side,
      from,
      strips: strips.value,
      colors: colors.value,
    };
    if (fan) paintFan(target, shown, buffers);
    else paintRibbons(target, shown);
  });

  function paintAll(drawn: readonly AttentionMatrix[], inks: readonly Ink[]): () => void {
    const ratio = Math.min(canvasRatio(...size), length > 2000 ? 1 : devicePixelRatio);
    const middles = (track: Track, count: number) =>
      Float32Array.from({ length: count }, (_, at) => track.middle(at) * ratio);
    const cells = (track: Track, count: number) =>
      Float32Array.from({ length: count }, (_, at) => ((at + 0.5) / count) * track.length * ratio);
    const coarse = overviewOf(drawn);
    const job = {
      rows: coarse?.rows ?? rows,
      columns: coarse?.columns ?? columns,
      from: coarse ? cells(tracks.query, coarse.rows.length) : middles(tracks.query, rows.length),
      to: coarse ? cells(tracks.key, coarse.columns.length) : middles(tracks.key, columns.length),
      width: Math.max(1, Math.round(across * ratio)),
      height: Math.max(1, Math.round(length * ratio)),
      inks,
      ratio,
      faintest: FAINTEST,
    };
    return linesPicture(coarse?.matrices ?? drawn, job, (image, drawnShare) => {
      const buffer = el("canvas", { width: image.width, height: image.height });
      buffer.getContext("2d")?.putImageData(image, 0, 0);
      open(base).drawImage(buffer, 0, 0, across, length);
      share.value = drawnShare;
    });
  }

  return { element, share };
}
