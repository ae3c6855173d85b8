/** One head's weights as a matrix, with a cross-hair on what is looked at. */

import { effect, type ReadonlySignal } from "@preact/signals-core";
import type { LayerData } from "../data/layer.ts";
import { disposeAll } from "../parts/dispose.ts";
import { el, sizeCanvas } from "../parts/dom.ts";
import { type Place, type Shown, toggleLock } from "../state.ts";
import { rgb } from "../theme.ts";
import { headIn } from "./layer-view.ts";
import type { Context } from "./view.ts";

export interface MatrixOptions {
  readonly shown: Shown;
  readonly focus: ReadonlySignal<Place>;
  readonly width: number;
}

/** Column labels need cells at least this wide. */
const LABELS_FROM = 10;
const LABEL_HEIGHT = 76;
/** Below this, the cross-hair would cover what it points at. */
const BOLD_CROSS_FROM = 6;

export function matrix(
  { state, palette }: Context,
  data: LayerData,
  { shown, focus, width }: MatrixOptions,
): { element: HTMLElement; dispose(): void } {
  const keys = data.stack.keys.labels;
  const cell = Math.min(28, (width - 2) / Math.max(shown.keys.length, shown.queries.length));
  const labelled = cell >= LABELS_FROM;
  const top = labelled ? LABEL_HEIGHT : 0;
  const [columns, rows] = [shown.keys.length, shown.queries.length];
  const title = el("div", { class: "title" });
  const picture = el("canvas", { "aria-hidden": "true" });
  const cross = el("canvas", { class: "overlay", "aria-hidden": "true" });
  const stage = el("div", { class: "stage" }, picture, cross);
  const element = el("div", { class: "matrix" }, title, stage);
  element.style.width = `${width}px`;
  const size = [columns * cell + 2, top + rows * cell + 2] as const;

  const disposers = [
    effect(() => {
      const head = headIn(state, data);
      const axes = "rows: queries · columns: keys · shade: √weight";
      title.replaceChildren(
        el("strong", {}, `Layer ${data.info.number} · Head ${head}`),
        `  ${axes}`,
      );
      const target = sizeCanvas(picture, ...size);
      if (labelled) drawLabels(target);
      target.imageSmoothingEnabled = false;
      target.drawImage(image(data.matrix(head)), 1, top + 1, columns * cell, rows * cell);
      target.strokeStyle = palette.value.border;
      target.strokeRect(0.5, top + 0.5, columns * cell + 1, rows * cell + 1);
    }),
    effect(() => {
      const { query, key } = focus.value;
      const target = sizeCanvas(cross, ...size);
      target.strokeStyle = palette.value.accent;
      target.lineWidth = cell < BOLD_CROSS_FROM ? 1 : 2;
      const row = query === null ? -1 : shown.queries.indexOf(query);
      const column = key === null ? -1 : shown.keys.indexOf(key);
      if (row >= 0) target.strokeRect(1, top + 1 + row * cell, columns * cell, cell);
      if (column >= 0) target.strokeRect(1 + column * cell, top + 1, cell, rows * cell);
    }),
  ];

  /** One pixel per cell, or per screen pixel where cells are smaller: then the largest of them. */
  function image(weights: Float32Array): HTMLCanvasElement {
    const perCell = Math.min(1, cell * devicePixelRatio);
    const [across, down] = [Math.ceil(columns * perCell), Math.ceil(rows * perCell)];
    const pixels = new ImageData(across, down);
    const ink = rgb(palette.value.ink);
    shown.queries.forEach((query, y) => {
      shown.keys.forEach((key, x) => {
        const at = (Math.floor(y * perCell) * across + Math.floor(x * perCell)) * 4;
        // The square root, as in the thumbnails: most weights are small.
        const opacity = 255 * Math.sqrt(weights[query * data.numKeys + key]);
        pixels.data.set(ink, at);
        pixels.data[at + 3] = Math.max(pixels.data[at + 3], opacity);
      });
    });
    const buffer = el("canvas", { width: across, height: down });
    buffer.getContext("2d")?.putImageData(pixels, 0, 0);
    return buffer;
  }

  function drawLabels(target: CanvasRenderingContext2D): void {
    target.fillStyle = palette.value.muted;
    target.font = `${Math.min(12, cell * 0.85)}px system-ui, sans-serif`;
    target.textBaseline = "middle";
    shown.keys.forEach((key, column) => {
      target.save();
      target.translate(1 + (column + 0.5) * cell, top - 5);
      target.rotate(-Math.PI / 2);
      target.fillText(shorten(target, keys[key], LABEL_HEIGHT - 8), 0, 0);
      target.restore();
    });
  }

  function placeOf(event: MouseEvent): { query: number; key: number } | null {
    const box = picture.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - 1) / cell);
    const row = Math.floor((event.clientY - box.top - top - 1) / cell);
    const [query, key] = [shown.queries[row], shown.keys[column]];
    return query === undefined || key === undefined ? null : { query, key };
  }
  stage.addEventListener("pointermove", (event) => {
    state.hover.value = placeOf(event);
  });
  stage.addEventListener("pointerleave", () => {
    state.hover.value = null;
  });
  stage.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (place) toggleLock(state, place);
  });

  return { element, dispose: disposeAll(disposers) };
}

/** The label, shortened in the middle if it is wider than `width`. */
function shorten(target: CanvasRenderingContext2D, label: string, width: number): string {
  if (target.measureText(label).width <= width) return label;
  const characters = [...label];
  for (let keep = characters.length - 1; keep > 1; keep--) {
    const head = Math.ceil(keep / 2);
    const short = `${characters.slice(0, head).join("")}…${characters.slice(head - keep).join("")}`;
    if (target.measureText(short).width <= width) return short;
  }
  return characters[0];
}
