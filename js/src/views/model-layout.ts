/** Where the heads of the model view stand, in CSS pixels. */

import type { StackInfo } from "../data/manifest.ts";
import { aspectOf, type Box } from "./thumbnail.ts";

export interface ModelLayout {
  /** Width of the column with the layers' numbers. */
  readonly left: number;
  readonly width: number;
  readonly height: number;
  /** The most heads that any layer has. */
  readonly columns: number;
  /** The picture of a head, by its row and column. */
  box(row: number, head: number): Box;
}

const LEFT = 42;
const TOP = 24;
/** The longer side of a picture. */
const LARGEST = 100;
/** Where a single row of low pictures leaves less, there is no room to enlarge one. */
const LOWEST = 140;

export function modelLayout(width: number, stack: StackInfo): ModelLayout {
  const columns = Math.max(...stack.layers.map(({ heads }) => heads));
  const aspect = aspectOf(stack);
  const pitch = Math.max(28, Math.min(LARGEST + 12, (width - LEFT) / columns));
  const gap = pitch > 60 ? 12 : 6;
  const across = Math.min(pitch - gap, LARGEST * aspect);
  const down = across / aspect;
  // Room for the number of the layer, however low the pictures are.
  const rowPitch = Math.max(down + gap + 2, 20);
  return {
    left: LEFT,
    columns,
    width: LEFT + columns * (across + gap),
    height: Math.max(TOP + stack.layers.length * rowPitch, LOWEST),
    box: (row, head) => [
      LEFT + head * (across + gap) + gap / 2,
      TOP + row * rowPitch,
      across,
      down,
    ],
  };
}
