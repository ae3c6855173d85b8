/** The middle of the head view: all lines underneath, the looked-at tokens' own ribbons on top. */

import { effect, type ReadonlySignal, signal } from "@preact/signals-core";
import type { Sheet } from "../data/sheets.ts";
import { LineField } from "../kernels/lines.ts";
import { disposeAll } from "../parts/dispose.ts";
import { canvasRatio, el, sizeCanvas } from "../parts/dom.ts";
import { inSlices } from "../parts/slices.ts";
import type { Track } from "../parts/track.ts";
import type { Side } from "../state.ts";
import { rgb } from "../theme.ts";
import { type Axes, type Look, sideOf } from "./axes.ts";
import { FAINTEST, paintRibbons } from "./ribbons.ts";

export interface LinesOptions {
  readonly axes: Axes;
  readonly tracks: Readonly<Record<Side, Track>>;
  /** From the queries to the keys, in CSS pixels. */
  readonly across: number;
  readonly horizontal: boolean;
  readonly sheets: ReadonlySignal<readonly Sheet[]>;
  /** The colour of each sheet. */
  readonly colors: ReadonlySignal<readonly string[]>;
  readonly look: ReadonlySignal<Look>;
  /** Per sheet, the weights of the row or column looked at. */
  readonly strips: ReadonlySignal<readonly Float32Array[] | null>;
}

export interface Lines {
  readonly element: HTMLElement;
  /** The share of attention that is drawn, in percent. */
  readonly share: ReadonlySignal<number>;
  dispose(): void;
}

/** After how many slices what is there so far is shown. */
const SHOW_EVERY = 12;

/** Width of a line in CSS pixels: of a weight that is nearly 0, and what is added up to 1. */
const THINNEST = 0.9;
const THICKER = 1.6;

export function lines(options: LinesOptions): Lines {
  const { axes, tracks, across, horizontal, sheets, colors, look, strips } = options;
  const [rows, columns] = [axes.query.shown, axes.key.shown];
  const base = el("canvas", { class: "base" });
  const overlay = el("canvas", { class: "overlay" });
  const element = el("div", { class: "lines", "aria-hidden": "true" }, base, overlay);
  const length = Math.max(tracks.query.length, tracks.key.length);
  const size: [number, number] = horizontal ? [length, across] : [across, length];
  [element.style.width, element.style.height] = size.map((side) => `${side}px`);
  const share = signal(100);

  /** Drawn from left to right whatever the layout is: a line of tokens is a column on its side. */
  const open = (canvas: HTMLCanvasElement) => {
    const target = sizeCanvas(canvas, ...size);
    if (horizontal) target.transform(0, 1, 1, 0, 0, 0);
    return target;
  };

  const disposeBase = effect(() => {
    return paintAll(sheets.value, colors.value.map(rgb));
  });
  const disposeOverlay = effect(() => {
    base.classList.toggle("dimmed", strips.value !== null);
    const target = open(overlay);
    const side = sideOf(look.value);
    if (!strips.value || !side) return;
    paintRibbons(target, {
      axes,
      tracks,
      across,
      side,
      from: look.value[side],
      strips: strips.value,
      colors: colors.value,
    });
  });

  /** Rows one after the other, until done or overtaken by newer choices. */
  function paintAll(drawn: readonly Sheet[], inks: readonly Ink[]): () => void {
    const ratio = Math.min(canvasRatio(...size), length > 2000 ? 1 : devicePixelRatio);
    const field = new LineField(
      Math.max(1, Math.round(across * ratio)),
      Math.max(1, Math.round(length * ratio)),
    );
    let slices = 0;
    let [given, total] = [0, 0];

    const addRow = (at: number) => {
      const weights = drawn.map((sheet) => sheet.row(rows[at]));
      // Of all that the query attends to, also outside of the segment shown.
      for (const own of weights) for (const weight of own) total += weight;
      columns.forEach((key, to) => {
        const { color, most, sum } = mixed(weights, inks, key);
        // One curve per pair, however many heads, as opaque as its strongest head is sure.
        if (most < FAINTEST) return;
        given += sum;
        field.add(
          tracks.query.middle(at) * ratio,
          tracks.key.middle(to) * ratio,
          (THINNEST + THICKER * most) * ratio,
          color,
          Math.min(1, most),
        );
      });
    };
    const show = () => {
      const image = field.image();
      const buffer = el("canvas", { width: image.width, height: image.height });
      buffer.getContext("2d")?.putImageData(image, 0, 0);
      open(base).drawImage(buffer, 0, 0, across, length);
    };
    return inSlices(rows.length, addRow, (done) => {
      if (done || slices++ % SHOW_EVERY === 0) show();
      if (done) share.value = total > 0 ? (100 * given) / total : 100;
    });
  }

  return { element, share, dispose: disposeAll([disposeBase, disposeOverlay]) };
}

type Ink = readonly [number, number, number];

/** What several heads give to one key. */
function mixed(weights: readonly Float32Array[], inks: readonly Ink[], key: number) {
  let [r, g, b, parts, most, sum] = [0, 0, 0, 0, 0, 0];
  for (let n = 0; n < weights.length; n++) {
    const weight = weights[n][key];
    // The strongest heads give the colour: the plain mean of twelve colours is none.
    const part = weight ** 3;
    r += part * inks[n][0];
    g += part * inks[n][1];
    b += part * inks[n][2];
    parts += part;
    sum += weight;
    if (weight > most) most = weight;
  }
  return { color: [r / parts, g / parts, b / parts] as const, most, sum };
}
