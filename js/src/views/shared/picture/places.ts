/** The places of patches on a picture, in CSS pixels. */

import type { Grid, Patches } from "../../../data/manifest.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

type Shape = Pick<Patches, "rows" | "columns">;

export interface Box extends Size {
  readonly left: number;
  readonly top: number;
}

/** The name of a patch: a sound has a single row. */
export const pieceOf = ({ rows }: Pick<Shape, "rows">): string => (rows === 1 ? "frame" : "patch");

/** The place of a patch on a picture of this size. */
export function boxOf(patch: number, { rows, columns }: Shape, { width, height }: Size): Box {
  const [across, down] = [width / columns, height / rows];
  const row = Math.floor(patch / columns);
  return { left: (patch % columns) * across, top: row * down, width: across, height: down };
}

/** The place of a box on a picture of this size that shows the part `whole` of the image. */
export function boxOn(box: Grid["box"], whole: Grid["box"], { width, height }: Size): Box {
  const across = width / (whole[2] - whole[0]);
  const down = height / (whole[3] - whole[1]);
  return {
    left: (box[0] - whole[0]) * across,
    top: (box[1] - whole[1]) * down,
    width: (box[2] - box[0]) * across,
    height: (box[3] - box[1]) * down,
  };
}

/** The patch at a point of a picture of this size, or the nearest. */
export function patchAt(
  x: number,
  y: number,
  { rows, columns }: Shape,
  { width, height }: Size,
): number {
  const at = (place: number, length: number, count: number) =>
    Math.max(0, Math.min(count - 1, Math.floor((place / length) * count)));
  return at(y, height, rows) * columns + at(x, width, columns);
}
