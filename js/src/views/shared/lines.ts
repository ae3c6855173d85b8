/** The lines between queries and keys, with the ribbons of the focused tokens above them. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { type AttentionMatrix, isSigned, overviewOf } from "../../data/attention-matrix.ts";
import {
  canvasRatio,
  imageCanvas,
  paintCanvas,
  paintInFigures,
  showPixels,
} from "../../painting/canvas.ts";
import type { Paint } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import { ranges } from "../../parts/text.ts";
import type { Track } from "../../parts/track.ts";
import type { LinesJob } from "../../raster/lines-job.ts";
import type { Ink } from "../../raster/mixer.ts";
import { areFew } from "../../raster/paint-curves.ts";
import { rasterize } from "../../raster/run.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { type Palette, rgb } from "../../styles/palette.ts";
import { type DrawnArc, paintArcs } from "./arcs.ts";
import { type FocusedUnits, sideOf } from "./axes.ts";
import { paintCurves } from "./curves.ts";
import { countOf, ribbonPicture } from "./ribbon-picture.ts";
import { type Between, FAINTEST, type Series, strokeRibbons } from "./ribbons.ts";

/** The longest column in CSS pixels whose ribbons are drawn as a picture. */
const LONGEST_PICTURE = 3000;

export interface LinesOptions extends Between {
  readonly horizontal: boolean;
  readonly matrices: ReadonlySignal<readonly AttentionMatrix[]>;
  readonly colors: ReadonlySignal<readonly string[]>;
  readonly focused: ReadonlySignal<FocusedUnits>;
  /** The weights from the focused units; null if there are none. */
  readonly series: ReadonlySignal<readonly Series[] | null>;
  /** Annotated links, above the lines. */
  readonly arcs: ReadonlySignal<readonly DrawnArc[]>;
  readonly palette: ReadonlySignal<Palette>;
}

export function lines(scope: Scope, options: LinesOptions) {
  const { axes, tracks, across, horizontal, matrices, colors, focused, series, arcs } = options;
  const [rows, columns] = [axes.query.shown, axes.key.shown];
  const base = el("canvas", { class: "base" });
  const overlay = el("canvas", { class: "overlay" });
  const links = el("canvas", { class: "overlay links" });
  const stripNames = el("div", { class: "strip-names" });
  const element = el("div", { class: "lines", "aria-hidden": "true" });
  element.append(base, overlay, links, stripNames);
  const length = Math.max(tracks.query.length, tracks.key.length);
  const size: [number, number] = horizontal ? [length, across] : [across, length];
  [element.style.width, element.style.height] = size.map((side) => `${side}px`);
  /** The percentage of attention that is drawn; null until all lines are. */
  const share = signal<number | null>(100);

  /** Transpose a drawing from left to right for a horizontal layout. */
  const upright = (paint: Paint): Paint =>
    horizontal
      ? (painter, ratio) => {
          painter.transform(0, 1, 1, 0, 0, 0);
          paint(painter, ratio);
        }
      : paint;

  /** Show pixels of an upright drawing. */
  function show(
    canvas: HTMLCanvasElement,
    width: number,
    height: number,
    image: ImageData,
    inFigures?: Paint,
  ): void {
    if (horizontal) {
      const picture = imageCanvas(image);
      const paint: Paint = (painter) => painter.drawImage(picture, 0, 0, across, length);
      paintCanvas(canvas, width, height, upright(paint), inFigures && upright(inFigures));
    } else showPixels(canvas, width, height, image, inFigures);
  }

  scope.effect(() => paintAll(matrices.value, colors.value.map(rgb)));
  const side = computed(() => sideOf(focused.value));
  scope.effect(() => {
    base.classList.toggle("dimmed", side.value !== null);
    stripNames.classList.toggle("right", side.value === "query");
  });
  scope.effect(() => {
    stripNames.textContent = headsIn(matrices.value);
  });
  scope.effect(() => {
    const shown = series.value;
    stripNames.hidden = !shown;
    if (!shown || !side.value) {
      paintCanvas(overlay, ...size, () => {});
      return;
    }
    const ribbons = { axes, tracks, across, side: side.value, series: shown };
    const strokes: Paint = (painter) => strokeRibbons(painter, ribbons);
    // The cost of a picture is proportional to the length of the column.
    if (length >= LONGEST_PICTURE) {
      paintCanvas(overlay, ...size, upright(strokes));
      return;
    }
    const picture: Paint = (painter, ratio) =>
      ribbonPicture(ribbons, length, ratio, (image) =>
        painter.drawImage(imageCanvas(image), 0, 0, across, length),
      );
    const inFigures = areFew(countOf(ribbons)) ? strokes : picture;
    ribbonPicture(ribbons, length, canvasRatio(...size), (image) =>
      show(overlay, ...size, image, inFigures),
    );
  });

  scope.effect(() => {
    const [shown, units, palette] = [arcs.value, focused.value, options.palette.value];
    // Written only when it changes: hovering changes no attribute.
    if (links.hidden !== !shown.length) links.hidden = !links.hidden;
    if (links.hidden) return;
    const paint: Paint = (painter) =>
      paintArcs(painter, shown, options, horizontal, units, palette);
    paintCanvas(links, ...size, upright(paint));
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
    const curves: Paint = (painter) => paintCurves(painter, drawn, jobAt(1));
    if (few) paintInFigures(base, upright(curves));
    const ratio = Math.min(canvasRatio(...size), length > 2000 ? 1 : devicePixelRatio);
    const job = jobAt(ratio);
    return rasterize("lines", drawn, job, (pixels, drawnShare) => {
      show(base, ...size, new ImageData(pixels, job.width, job.height), few ? curves : undefined);
      share.value = drawnShare;
    });
  }

  return { element, share };
}

/** The heads of the strips, from left to right. */
function headsIn(matrices: readonly AttentionMatrix[]): string {
  if (isSigned(matrices[0])) {
    return matrices[0].difference ? "more · less in B" : "above · below 0";
  }
  const heads = matrices.map(({ head }) => head).filter((head) => head !== null);
  return heads.length > 1 ? `heads ${ranges(heads)}` : matrices[0].name;
}
