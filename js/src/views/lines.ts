/** The middle of the head view: all lines underneath, the looked-at token's own lines on top. */

import { effect, type ReadonlySignal, signal } from "@preact/signals-core";
import type { LayerData } from "../data/layer.ts";
import { LineField } from "../kernels/lines.ts";
import { canvasRatio, el, sizeCanvas } from "../parts/dom.ts";
import type { Place, Shown } from "../state.ts";
import { alpha, headColor, rgb } from "../theme.ts";

export interface LinesOptions {
  readonly shown: Shown;
  readonly rowHeight: number;
  readonly active: ReadonlySignal<readonly number[]>;
  readonly focus: ReadonlySignal<Place>;
  /** Per active head, the weights of the row or column looked at. */
  readonly strips: ReadonlySignal<readonly Float32Array[] | null>;
}

export interface Lines {
  readonly element: HTMLElement;
  /** The share of attention that is drawn, in percent. */
  readonly share: ReadonlySignal<number>;
  dispose(): void;
}

/** Weights below this are not drawn; the share of attention that is says what that leaves out. */
const FAINTEST = 0.0005;

/** How long drawing may hold up the page at a time. */
const SLICE_MS = 12;

const STRIP = 9;

export function lines(data: LayerData, options: LinesOptions): Lines {
  const { shown, rowHeight, active, focus, strips } = options;
  const base = el("canvas", { class: "base" });
  const overlay = el("canvas", { class: "overlay" });
  const element = el("div", { class: "lines", "aria-hidden": "true" }, base, overlay);
  const height = rowHeight * Math.max(shown.queries.length, shown.keys.length);
  element.style.height = `${height}px`;
  const width = signal(0);
  const share = signal(100);
  const observer = new ResizeObserver(() =>
    requestAnimationFrame(() => {
      width.value = element.clientWidth;
    }),
  );
  observer.observe(element);
  const middle = (index: number) => (index + 0.5) * rowHeight;

  const disposeBase = effect(() => {
    if (width.value === 0) return;
    const painting = paintAll(width.value, active.value);
    return () => painting.abort();
  });
  const disposeOverlay = effect(() => {
    if (width.value === 0) return;
    base.classList.toggle("dimmed", strips.value !== null);
    paintFocus(sizeCanvas(overlay, width.value, height));
  });

  /** Rows one after the other, a slice at a time, until done or overtaken by newer choices. */
  function paintAll(cssWidth: number, heads: readonly number[]): AbortController {
    const controller = new AbortController();
    const ratio = Math.min(canvasRatio(cssWidth, height), height > 2000 ? 1 : devicePixelRatio);
    const span = Math.max(1, Math.round(cssWidth * ratio));
    const field = new LineField(span, Math.round(height * ratio), 1.3 * ratio);
    const colors = heads.map((head) => rgb(headColor(head)));
    let row = 0;
    let drawn = 0;
    let total = 0;

    const addRow = (index: number) => {
      const rows = heads.map((head) => data.weightRow(head, shown.queries[index]));
      // Of all that the query attends to, also outside of the segment shown.
      for (const weights of rows) for (const weight of weights) total += weight;
      shown.keys.forEach((key, at) => {
        let [r, g, b, sum, most] = [0, 0, 0, 0, 0];
        let given = 0;
        rows.forEach((weights, n) => {
          const weight = weights[key];
          // The strongest heads give the colour: the plain mean of twelve colours is none.
          const part = weight ** 3;
          r += part * colors[n][0];
          g += part * colors[n][1];
          b += part * colors[n][2];
          sum += part;
          given += weight;
          if (weight > most) most = weight;
        });
        // One curve per pair, however many heads, as opaque as its strongest head is sure.
        if (most < FAINTEST) return;
        drawn += given;
        field.add(middle(index) * ratio, middle(at) * ratio, r / sum, g / sum, b / sum, most);
      });
    };
    const blit = () => {
      const image = field.image();
      const buffer = el("canvas", { width: image.width, height: image.height });
      buffer.getContext("2d")?.putImageData(image, 0, 0);
      sizeCanvas(base, cssWidth, height).drawImage(buffer, 0, 0, cssWidth, height);
    };
    const slice = () => {
      if (controller.signal.aborted) return;
      const until = performance.now() + SLICE_MS;
      while (row < shown.queries.length && performance.now() < until) addRow(row++);
      if (row < shown.queries.length) {
        requestAnimationFrame(slice);
        return;
      }
      blit();
      share.value = total > 0 ? (100 * drawn) / total : 100;
    };
    slice();
    return controller;
  }

  function paintFocus(target: CanvasRenderingContext2D): void {
    const rows = strips.value;
    if (!rows) return;
    const { query, key } = focus.value;
    const forward = query !== null;
    const [own, others] = forward ? [shown.queries, shown.keys] : [shown.keys, shown.queries];
    const at = own.indexOf((forward ? query : key) as number);
    if (at < 0) return;
    const heads = active.value;
    const inset = Math.min(STRIP * heads.length, width.value * 0.3);
    const stripe = inset / heads.length;
    const [near, far] = forward ? [0, width.value - inset] : [width.value, inset];
    const third = (far - near) / 3;
    target.lineWidth = 2;
    rows.forEach((weights, n) => {
      const color = headColor(heads[n]);
      const x = forward ? far + n * stripe : n * stripe;
      // A trace of its colour says which column is whose, also where there is nothing in it.
      target.fillStyle = alpha(color, 0.07);
      target.fillRect(x, 0, stripe, others.length * rowHeight);
      others.forEach((position, index) => {
        const weight = weights[position];
        if (weight < FAINTEST) return;
        const y = middle(index);
        target.strokeStyle = alpha(color, weight);
        target.beginPath();
        target.moveTo(near, middle(at));
        target.bezierCurveTo(near + third, middle(at), far - third, y, far, y);
        target.stroke();
        target.fillStyle = alpha(color, weight);
        target.fillRect(x, index * rowHeight + 1, stripe, rowHeight - 2);
      });
    });
  }

  return {
    element,
    share,
    dispose() {
      observer.disconnect();
      disposeBase();
      disposeOverlay();
    },
  };
}
