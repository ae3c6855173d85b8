/** Weights as a matrix, with a cross-hair on what is looked at. */

import { computed, effect, type ReadonlySignal } from "@preact/signals-core";
import type { Sheet } from "../data/sheets.ts";
import { release, toggleLock } from "../locks.ts";
import { disposeAll } from "../parts/dispose.ts";
import { el, sizeCanvas } from "../parts/dom.ts";
import { shorten, textMeasure } from "../parts/text.ts";
import type { State } from "../state.ts";
import { type Palette, rgb } from "../theme.ts";
import { type Axes, type Axis, type Look, placeOf } from "./axes.ts";

export interface MatrixOptions {
  readonly state: State;
  readonly palette: ReadonlySignal<Palette>;
  readonly axes: Axes;
  readonly sheet: ReadonlySignal<Sheet>;
  readonly title: ReadonlySignal<string>;
  readonly look: ReadonlySignal<Look>;
  /** In CSS pixels. */
  readonly width: number;
  /** Whether there is room to name the queries too. */
  readonly namesRows: boolean;
}

const LARGEST_CELL = 28;
/** Labels need cells at least this wide. */
const LABELS_FROM = 10;
const LABEL_ROOM = 76;
/** Below this, the cross-hair would cover what it points at. */
const BOLD_CROSS_FROM = 6;

export function matrix(options: MatrixOptions): { element: HTMLElement; dispose(): void } {
  const { state, palette, axes, sheet, look, width } = options;
  const [rows, columns] = [axes.query.shown, axes.key.shown];
  const cellWithin = (room: number) =>
    Math.min(LARGEST_CELL, (room - 2) / Math.max(rows.length, columns.length));
  const namesRows = options.namesRows && cellWithin(width - LABEL_ROOM) >= LABELS_FROM;
  const left = namesRows ? LABEL_ROOM : 0;
  const cell = cellWithin(width - left);
  const named = cell >= LABELS_FROM;
  const top = named ? LABEL_ROOM : 0;
  const title = el("div", { class: "title" });
  const picture = el("canvas", { "aria-hidden": "true" });
  const cross = el("canvas", { class: "overlay", "aria-hidden": "true" });
  const stage = el("div", { class: "stage" }, picture, cross);
  const element = el("div", { class: "matrix" }, title, stage);
  element.style.maxWidth = `${width}px`;
  const [across, down] = [columns.length * cell, rows.length * cell];
  const size = [left + across + 2, top + down + 2] as const;
  const font = `${Math.min(12, cell * 0.85)}px system-ui, sans-serif`;
  // Apart from the picture, which a change of theme paints anew.
  const weights = computed(() => sheet.value.matrix());

  const disposers = [
    effect(() => {
      const axes = "rows: queries · columns: keys · shade: √weight";
      const of = options.title.value;
      title.replaceChildren(...(of ? [el("strong", {}, of), "  "] : []), axes);
    }),
    effect(() => {
      const target = sizeCanvas(picture, ...size);
      if (named) nameColumns(target);
      if (namesRows) nameRows(target);
      target.imageSmoothingEnabled = false;
      target.drawImage(image(weights.value), left + 1, top + 1, across, down);
      target.strokeStyle = palette.value.border;
      target.strokeRect(left + 0.5, top + 0.5, across + 1, down + 1);
    }),
    effect(() => {
      const { query, key } = look.value;
      const target = sizeCanvas(cross, ...size);
      target.strokeStyle = palette.value.accent;
      target.lineWidth = cell < BOLD_CROSS_FROM ? 1 : 2;
      for (const unit of query) {
        target.strokeRect(left + 1, top + 1 + rows.indexOf(unit) * cell, across, cell);
      }
      for (const unit of key) {
        target.strokeRect(left + 1 + columns.indexOf(unit) * cell, top + 1, cell, down);
      }
    }),
  ];

  /** One pixel per cell, or per screen pixel where cells are smaller: then the largest of them. */
  function image(values: Float32Array): HTMLCanvasElement {
    const perCell = Math.min(1, cell * devicePixelRatio);
    const [wide, high] = [Math.ceil(columns.length * perCell), Math.ceil(rows.length * perCell)];
    const pixels = new ImageData(wide, high);
    const ink = rgb(palette.value.ink);
    const stride = axes.key.units.labels.length;
    rows.forEach((query, y) => {
      columns.forEach((key, x) => {
        const at = (Math.floor(y * perCell) * wide + Math.floor(x * perCell)) * 4;
        // The square root, as in the thumbnails: most weights are small.
        const opacity = 255 * Math.sqrt(values[query * stride + key]);
        pixels.data.set(ink, at);
        pixels.data[at + 3] = Math.max(pixels.data[at + 3], opacity);
      });
    });
    const buffer = el("canvas", { width: wide, height: high });
    buffer.getContext("2d")?.putImageData(pixels, 0, 0);
    return buffer;
  }

  function label(target: CanvasRenderingContext2D, { units }: Axis, unit: number): void {
    const text = shorten(units.labels[unit], LABEL_ROOM - 10, textMeasure(font));
    target.fillText(text, 0, 0);
  }

  function write(target: CanvasRenderingContext2D): void {
    target.fillStyle = palette.value.muted;
    target.font = font;
    target.textBaseline = "middle";
  }

  function nameColumns(target: CanvasRenderingContext2D): void {
    columns.forEach((key, column) => {
      target.save();
      write(target);
      target.translate(left + 1 + (column + 0.5) * cell, top - 5);
      target.rotate(-Math.PI / 2);
      label(target, axes.key, key);
      target.restore();
    });
  }

  function nameRows(target: CanvasRenderingContext2D): void {
    rows.forEach((query, row) => {
      target.save();
      write(target);
      target.textAlign = "right";
      target.translate(left - 5, top + 1 + (row + 0.5) * cell);
      label(target, axes.query, query);
      target.restore();
    });
  }

  function placeAt(event: MouseEvent) {
    const box = picture.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - left - 1) / cell);
    const row = Math.floor((event.clientY - box.top - top - 1) / cell);
    const [query, key] = [rows[row], columns[column]];
    return query === undefined || key === undefined ? null : placeOf(axes, query, key);
  }
  stage.addEventListener("pointermove", (event) => {
    const [place, before] = [placeAt(event), state.hover.peek()];
    // Within a cell nothing changes, and a sum of many heads is work.
    if (place?.query !== before?.query || place?.key !== before?.key) state.hover.value = place;
  });
  stage.addEventListener("pointerleave", () => {
    state.hover.value = null;
  });
  stage.addEventListener("click", (event) => {
    const place = placeAt(event);
    if (!place) return;
    // Any of a word's tokens may be what is locked.
    const of = ({ side, units }: Axis) => units.of[state[side].peek() ?? -1];
    const same =
      of(axes.query) === axes.query.units.of[place.query as number] &&
      of(axes.key) === axes.key.units.of[place.key as number];
    if (same && !state.also.peek().length) release(state);
    else toggleLock(state, place);
  });

  return { element, dispose: disposeAll(disposers) };
}
