/** Canvases have the pixels of the screen, and are painted once more for a figure. */

import { expect, test } from "vitest";
import {
  canvasRatio,
  paintCanvas,
  paintPart,
  repaint,
  showPixels,
} from "../../src/painting/canvas.ts";
import type { Painter } from "../../src/painting/painter.ts";
import { el } from "../../src/parts/dom.ts";

const box = (side: number) => (painter: Painter) => painter.fillRect(0, 0, side, side);

const opacityAt = (canvas: HTMLCanvasElement, x: number, y: number) =>
  canvas.getContext("2d")?.getImageData(x, y, 1, 1).data[3];

test.for([1, 1.5, 2])(
  "a canvas has the screen's %f pixels, and is painted in CSS pixels",
  (ratio) => {
    const own = Object.getOwnPropertyDescriptor(window, "devicePixelRatio") as PropertyDescriptor;
    Object.defineProperty(window, "devicePixelRatio", { value: ratio, configurable: true });
    try {
      const canvas = el("canvas");
      paintCanvas(canvas, 30, 20, (painter) => painter.fillRect(29, 19, 1, 1));
      expect([canvas.width, canvas.height]).toEqual([30 * ratio, 20 * ratio]);
      expect([canvas.style.width, canvas.style.height]).toEqual(["30px", "20px"]);
      expect(opacityAt(canvas, 30 * ratio - 1, 20 * ratio - 1)).toBeGreaterThan(0);
      // Painted again, it is clear again, and its scale is not applied twice.
      paintCanvas(canvas, 30, 20, box(10));
      expect(opacityAt(canvas, 11 * ratio, 11 * ratio)).toBe(0);
      expect(opacityAt(canvas, 30 * ratio - 1, 20 * ratio - 1)).toBe(0);
    } finally {
      Object.defineProperty(window, "devicePixelRatio", own);
    }
  },
);

test("a canvas that is too long for some browsers has fewer pixels", () => {
  expect(canvasRatio(100, 100)).toBe(devicePixelRatio);
  const canvas = el("canvas");
  paintCanvas(canvas, 50, 32768, box(1));
  expect([canvas.width, canvas.height]).toEqual([25, 16384]);
  expect(canvas.style.height).toBe("32768px");
});

test("a canvas is never without a pixel, which drawing would throw at", () => {
  const canvas = el("canvas");
  paintCanvas(canvas, 0, 0, box(1));
  expect([canvas.width, canvas.height]).toEqual([1, 1]);
});

test("what was painted last is painted again, or what figures have instead", () => {
  const [canvas, figure] = [el("canvas"), el("canvas")];
  const painter = figure.getContext("2d") as CanvasRenderingContext2D;
  paintCanvas(canvas, 30, 30, box(20));
  paintCanvas(canvas, 30, 30, box(5));
  repaint(canvas, painter, 1);
  expect([opacityAt(figure, 4, 4), opacityAt(figure, 6, 6)]).toEqual([255, 0]);
  paintCanvas(canvas, 30, 30, box(5), box(10));
  repaint(canvas, painter, 1);
  expect(opacityAt(canvas, 6, 6)).toBe(0);
  expect(opacityAt(figure, 6, 6)).toBe(255);
});

test("a part takes the place of the one before, and nothing else is touched", () => {
  const canvas = el("canvas");
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const part = (x: number) =>
    paintPart(canvas, 60, 20, [x, 2, 10, 10], (painter) => painter.fillRect(x, 2, 10, 10));
  part(0);
  context.fillRect(50, 2, 4, 4);
  part(20);
  expect([5, 25, 51].map((x) => opacityAt(canvas, x, 5))).toEqual([0, 255, 255]);
  paintPart(canvas, 60, 20, null, () => {});
  expect([25, 51].map((x) => opacityAt(canvas, x, 5))).toEqual([0, 255]);
});

test("pixels are shown as they are, and figures draw them too", () => {
  const [canvas, figure] = [el("canvas"), el("canvas")];
  const image = new ImageData(4, 2);
  image.data.fill(255, 8);
  showPixels(canvas, 8, 4, image);
  expect([canvas.width, canvas.height, canvas.style.width]).toEqual([4, 2, "8px"]);
  expect([opacityAt(canvas, 0, 0), opacityAt(canvas, 2, 0)]).toEqual([0, 255]);
  repaint(canvas, figure.getContext("2d") as CanvasRenderingContext2D, 1);
  expect([opacityAt(figure, 1, 0), opacityAt(figure, 6, 3)]).toEqual([0, 255]);
});
