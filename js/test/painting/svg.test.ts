/** An SVG shows what a canvas does that was painted alike. */

import { expect, test } from "vitest";
import type { Painter } from "../../src/painting/painter.ts";
import { SvgPainter } from "../../src/painting/svg.ts";
import { el } from "../../src/parts/dom.ts";
import { hatch } from "../../src/views/neuron/strips.ts";

const SIZE = 60;

/** Two by three cells of unlike colours. */
function cells(): HTMLCanvasElement {
  const canvas = el("canvas", { width: 3, height: 2 });
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  ["#e00", "#0c0", "#00e", "#ee0", "#0dd", "#d0d"].forEach((color, n) => {
    context.fillStyle = color;
    context.fillRect(n % 3, Math.floor(n / 3), 1, 1);
  });
  return canvas;
}

/** An arrow, which shows how it is turned. */
function arrow(painter: Painter): void {
  painter.beginPath();
  painter.moveTo(4, 10);
  painter.bezierCurveTo(20, 10, 30, 40, 50, 40);
  painter.lineTo(40, 50);
  painter.stroke();
  painter.strokeRect(6, 30, 12, 20);
  painter.fillRect(30, 5, 20, 8);
}

const PAINTED: Readonly<Record<string, (painter: Painter) => void>> = {
  "curves, lines and boxes": arrow,
  "axes swapped": (painter) => {
    painter.transform(0, 1, 1, 0, 0, 0);
    arrow(painter);
  },
  mirrored: (painter) => {
    painter.transform(-1, 0, 0, 1, SIZE, 0);
    arrow(painter);
  },
  "moved and turned, and then no more": (painter) => {
    painter.save();
    painter.translate(SIZE, 0);
    painter.rotate(Math.PI / 2);
    painter.lineWidth = 3;
    painter.strokeStyle = "#c30";
    arrow(painter);
    painter.restore();
    arrow(painter);
  },
  "colours of any kind, and how opaque they are": (painter) => {
    ["#123456", "rgb(200 40 40 / 0.5)", "rgba(0, 90, 0, .25)", "color(srgb 0.2 0.4 0.9)"].forEach(
      (color, n) => {
        painter.globalAlpha = n % 2 ? 0.5 : 1;
        painter.fillStyle = color;
        painter.fillRect(0, 15 * n, SIZE, 12);
      },
    );
  },
  "dashes, and round corners": (painter) => {
    painter.setLineDash([5, 3]);
    painter.lineWidth = 2;
    painter.strokeRect(5, 5, 50, 50);
    painter.setLineDash([]);
    painter.beginPath();
    painter.roundRect(15, 15, 30, 30, 8);
    painter.fill();
  },
  "a clip inside of another, and around a hole": (painter) => {
    painter.save();
    painter.beginPath();
    painter.rect(10, 10, 40, 40);
    painter.clip();
    painter.save();
    painter.beginPath();
    painter.rect(0, 0, SIZE, SIZE);
    painter.rect(20, 20, 10, 10);
    painter.clip("evenodd");
    painter.fillRect(0, 0, 45, SIZE);
    painter.restore();
    painter.fillRect(45, 0, 10, 15);
    painter.restore();
    painter.fillRect(52, 52, 6, 6);
  },
  "a gradient that is moved": (painter) => {
    painter.translate(10, 0);
    const gradient = painter.createLinearGradient(0, 0, 40, 0);
    gradient.addColorStop(0, "rgb(33 102 172 / 0.1)");
    gradient.addColorStop(1, "rgb(33 102 172 / 1)");
    painter.fillStyle = gradient;
    painter.fillRect(0, 10, 40, 40);
  },
  "cells, and a part of them": (painter) => {
    painter.imageSmoothingEnabled = false;
    painter.drawImage(cells(), 5, 5, 45, 20);
    painter.globalAlpha = 0.5;
    painter.drawImage(cells(), 1, 0, 2, 1, 5, 30, 30, 20);
  },
  "cells, axes swapped": (painter) => {
    painter.transform(0, 1, 1, 0, 0, 0);
    painter.imageSmoothingEnabled = false;
    painter.drawImage(cells(), 5, 5, 45, 20);
  },
  hatching: (painter) => {
    hatch(painter, "#000", 10, 7, 9, 50);
    hatch(painter, "#a00", 25, 20, 30, 7);
  },
  "words at either end and in the middle, and upwards": (painter) => {
    painter.font = "600 12px system-ui, sans-serif";
    painter.textAlign = "right";
    painter.fillText("left", 55, 12);
    painter.textAlign = "center";
    painter.textBaseline = "middle";
    painter.fillText("mid", 30, 30);
    painter.translate(10, 55);
    painter.rotate(-Math.PI / 2);
    painter.textAlign = "left";
    painter.fillText("up", 0, 0);
  },
};

function canvasOf(paint: (context: CanvasRenderingContext2D) => void): Uint8ClampedArray {
  const canvas = el("canvas", { width: SIZE, height: SIZE });
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.fillStyle = "#fff";
  context.fillRect(0, 0, SIZE, SIZE);
  context.fillStyle = "#000";
  paint(context);
  return context.getImageData(0, 0, SIZE, SIZE).data;
}

async function pictureOf(paint: (painter: Painter) => void): Promise<Uint8ClampedArray> {
  const painter = new SvgPainter(SIZE, SIZE, "", "test");
  paint(painter);
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(`${painter}`)}`;
  await image.decode();
  return canvasOf((context) => context.drawImage(image, 0, 0));
}

/** The mean over all pixels, and the largest of any. */
function difference(a: Uint8ClampedArray, b: Uint8ClampedArray): number {
  return a.reduce((sum, value, n) => sum + Math.abs(value - b[n]), 0) / a.length;
}

test.for(Object.entries(PAINTED))("%s", async ([, paint]) => {
  const [wanted, blank] = [canvasOf(paint), canvasOf(() => {})];
  expect(difference(wanted, blank)).toBeGreaterThan(3);
  expect(difference(await pictureOf(paint), wanted)).toBeLessThan(1);
});

test("what a file cannot hold is left out, and what would be markup is text", () => {
  const painter = new SvgPainter(SIZE, SIZE, "</title><script>", "test");
  painter.fillText("a\u0000\ud800\n<b>&", 0, 0);
  const { documentElement } = new DOMParser().parseFromString(`${painter}`, "image/svg+xml");
  expect(documentElement.querySelector("text")?.textContent).toBe("a <b>&");
  expect(documentElement.querySelector("script, b, parsererror")).toBeNull();
});

test("a text is measured from its own baseline, whatever was painted before", () => {
  const painter = new SvgPainter(SIZE, SIZE, "title", "name");
  const before = painter.measureText("text").fontBoundingBoxAscent;
  painter.save();
  painter.textBaseline = "middle";
  painter.fillText("text", 0, 20);
  painter.restore();
  expect(painter.measureText("text").fontBoundingBoxAscent).toBe(before);
});
