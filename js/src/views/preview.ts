/** A larger picture of one head, beside its cell in the model view. */

import type { Thumbnail } from "../data/codec.ts";
import { el, sizeCanvas } from "../parts/dom.ts";
import type { Palette } from "../theme.ts";
import { type Box, paintThumbnail } from "./thumbnail.ts";

export interface Preview {
  readonly title: string;
  readonly thumbnail: Thumbnail;
  readonly color: string;
  readonly palette: Palette;
  readonly cell: Box;
  /** What it must not leave: from where to where across, and how far down. */
  readonly room: readonly [left: number, right: number, height: number];
}

const LARGEST = 208;
/** Room for the title. */
const NARROWEST = 124;
const GAP = 10;
/** What the frame adds to the picture, with its title. */
const FRAME = [26, 48] as const;

/** Fill `panel` and place it on the side of the cell where there is room. */
export function showPreview(panel: HTMLElement, preview: Preview): void {
  const [x, y, cellWidth, cellHeight] = preview.cell;
  const [start, end, height] = preview.room;
  const most = Math.max(60, Math.min(LARGEST, height - FRAME[1]));
  const scale = Math.min(LARGEST / cellWidth, most / cellHeight);
  const size = [cellWidth * scale, cellHeight * scale] as const;
  const canvas = el("canvas");
  const target = sizeCanvas(canvas, ...size);
  paintThumbnail(target, preview.thumbnail, [0, 0, ...size], preview.color, preview.palette);
  panel.replaceChildren(el("div", { class: "title" }, preview.title), canvas);
  const across = Math.max(size[0], NARROWEST) + FRAME[0];
  const down = size[1] + FRAME[1];
  const right = x + cellWidth + GAP;
  panel.style.left = `${Math.max(start, right + across < end ? right : x - GAP - across)}px`;
  panel.style.top = `${Math.max(0, Math.min(y - 20, height - down))}px`;
}
