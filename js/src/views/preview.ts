/** A larger picture of one head, beside its cell in the model view. */

import type { Thumbnail } from "../data/codec.ts";
import { el, sizeCanvas } from "../parts/dom.ts";
import type { Palette } from "../theme.ts";
import { paintThumbnail } from "./thumbnail.ts";

export interface Preview {
  readonly title: string;
  readonly thumbnail: Thumbnail;
  readonly color: string;
  readonly palette: Palette;
  /** The cell: left and top edge, and size. */
  readonly cell: readonly [x: number, y: number, size: number];
  /** Width and height of the grid, which it must not leave. */
  readonly room: readonly [width: number, height: number];
}

const LARGEST = 208;
const GAP = 10;
/** What the frame adds to the picture, with its title. */
const FRAME = [26, 48] as const;

/** Fill `panel` and place it on the side of the cell where there is room. */
export function showPreview(panel: HTMLElement, preview: Preview): void {
  const [x, y, size] = preview.cell;
  const [width, height] = preview.room;
  const side = Math.max(60, Math.min(LARGEST, height - FRAME[1]));
  const canvas = el("canvas");
  const target = sizeCanvas(canvas, side, side);
  paintThumbnail(target, preview.thumbnail, 0, 0, side, preview.color, preview.palette);
  panel.replaceChildren(el("div", { class: "title" }, preview.title), canvas);
  const [across, down] = [side + FRAME[0], side + FRAME[1]];
  const right = x + size + GAP;
  panel.style.left = `${Math.max(0, right + across < width ? right : x - GAP - across)}px`;
  panel.style.top = `${Math.max(0, Math.min(y - 20, height - down))}px`;
}
