/** The image, and how it is painted: with a veil over the patches that get little attention. */

import { type ReadonlySignal, signal } from "@preact/signals-core";
import type { Grid, ImageFile, Patches, Tokens } from "../../../data/manifest.ts";
import { imageCanvas, strokeBox } from "../../../painting/canvas.ts";
import type { Painter } from "../../../painting/painter.ts";
import { alpha, type Palette, rgb } from "../../../styles/palette.ts";
import { strokeLines } from "../curves.ts";
import { type Box, boxOf, boxOn, type Size } from "./places.ts";

/** The opacity of the veil over a patch without attention: the image still shows where one is. */
const DENSEST = 0.88;

/** The colour beside an image that a processor has padded. */
const PADDING = "#808080";

/** A frame around a patch, or a box in fractions of the image. */
export interface Mark {
  readonly patch: number | Grid["box"];
  readonly color: string;
  readonly line: number;
}

/** Frames around the patches of tokens, as far as they have some. */
export const marksOf = (
  tokens: readonly number[],
  { of }: Patches,
  color: string,
  line: number,
): readonly Mark[] =>
  tokens.flatMap((token) => {
    const patch = of[token];
    return patch === null ? [] : [{ patch, color, line }];
  });

/** Frames of the boxes that are predicted for tokens, as far as they are on this image. */
export const boxesOf = (
  tokens: readonly number[],
  { boxes }: Pick<Tokens, "boxes">,
  { image }: Patches,
  color: string,
  line: number,
): readonly Mark[] =>
  tokens.flatMap((token) => {
    const [on, patch] = boxes?.[token] ?? [];
    return patch && on === image ? [{ patch, color, line }] : [];
  });

/** The veil for shades by patch, a pixel each. */
export function veilOf(
  shades: Float32Array,
  { rows, columns }: Patches,
  { background }: Palette,
): HTMLCanvasElement {
  const pixels = new ImageData(columns, rows);
  const [red, green, blue] = rgb(background);
  shades.forEach((shade, patch) => {
    pixels.data.set([red, green, blue, 255 * DENSEST * (1 - shade)], 4 * patch);
  });
  return imageCanvas(pixels);
}

/** Paint the part of the image that a grid covers, (left, top, right, bottom) in fractions of it, as far as there is one. */
export function paintImage(
  painter: Painter,
  image: HTMLCanvasElement | null,
  { box: [left, top, right, bottom] }: Pick<Grid, "box">,
  veil: HTMLCanvasElement | null,
  { width, height }: Size,
  palette: Palette,
): void {
  // Where a processor has padded the image, there is none.
  painter.fillStyle = image ? PADDING : palette.ink;
  if (!image || left < 0 || top < 0 || right > 1 || bottom > 1) {
    painter.fillRect(0, 0, width, height);
  }
  const [x, y] = [Math.max(0, left), Math.max(0, top)];
  const [across, down] = [Math.min(1, right) - x, Math.min(1, bottom) - y];
  if (image && across > 0 && down > 0) {
    const [perWidth, perHeight] = [width / (right - left), height / (bottom - top)];
    painter.imageSmoothingEnabled = true;
    painter.drawImage(
      image,
      x * image.width,
      y * image.height,
      across * image.width,
      down * image.height,
      (x - left) * perWidth,
      (y - top) * perHeight,
      across * perWidth,
      down * perHeight,
    );
  }
  if (!veil) return;
  // Patches narrower than pixels would be left out.
  painter.imageSmoothingEnabled = veil.width > width;
  painter.drawImage(veil, 0, 0, width, height);
}

/** The part of the image that a patch of a grid covers. */
export function partOf(patch: number, grid: Grid): Grid["box"] {
  const [left, top, right, bottom] = grid.box;
  const box: Box = boxOf(patch, grid, { width: right - left, height: bottom - top });
  const corner = [left + box.left, top + box.top] as const;
  return [...corner, corner[0] + box.width, corner[1] + box.height];
}

/** Hairlines between the patches, where they would not cover these. */
export function paintGrid(painter: Painter, { rows, columns }: Patches, size: Size): void {
  painter.strokeStyle = GRID;
  painter.lineWidth = 1;
  const between = (count: number, length: number) =>
    length < NARROWEST * count
      ? []
      : Array.from({ length: count - 1 }, (_, n) => ((n + 1) * length) / count);
  strokeLines(
    painter,
    ...between(rows, size.height).map((y) => [0, y, size.width, y] as const),
    ...between(columns, size.width).map((x) => [x, 0, x, size.height] as const),
  );
}

/** Visible on dark and light images alike, and faint on both. */
const NARROWEST = 4;
const GRID = "rgb(160 160 160 / 0.35)";

/** Frames with a rim, so that they show on an image of their own colour. */
export function paintMarks(
  painter: Painter,
  marks: readonly Mark[],
  patches: Patches,
  size: Size,
  { background }: Palette,
): void {
  for (const { patch, color, line } of marks) {
    const { left, top, width, height } =
      typeof patch === "number" ? boxOf(patch, patches, size) : boxOn(patch, patches.box, size);
    const box = [left, top, width, height] as const;
    strokeBox(painter, box, alpha(background, 0.9), { line: line + 2 });
    strokeBox(painter, box, color, { line });
  }
}

const decoded = new WeakMap<ImageFile, ReadonlySignal<HTMLCanvasElement | null>>();

/** An image; null until it is decoded, or if the browser cannot decode it. */
export function imageOf(file: ImageFile): ReadonlySignal<HTMLCanvasElement | null> {
  const known = decoded.get(file);
  if (known) return known;
  const image = signal<HTMLCanvasElement | null>(null);
  decoded.set(file, image);
  decode(file.data).then(
    (canvas) => {
      image.value = canvas;
    },
    // The patches are still shaded, without the image behind them.
    () => {},
  );
  return image;
}

/** Not by an element's address, which a page whose policy allows no images would not load. */
async function decode(base64: string): Promise<HTMLCanvasElement> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/webp" }));
  const canvas = document.createElement("canvas");
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas;
}
