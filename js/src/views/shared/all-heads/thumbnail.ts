/** Thumbnails of heads, and how they are painted: as a matrix, or as lines from queries to keys. */

import type { Head, StackInfo } from "../../../data/manifest.ts";
import { leavesOut, shownSegments, shownTokens } from "../../../data/shown.ts";
import type { Store } from "../../../data/store.ts";
import type { Thumbnail } from "../../../data/thumbnails.ts";
import { cropped, sharesCells } from "../../../data/thumbnails.ts";
import { LineField } from "../../../kernels/lines.ts";
import { type Box, imageCanvas } from "../../../painting/canvas.ts";
import type { Painter } from "../../../painting/painter.ts";
import type { Choices, Segments } from "../../../state/choices.ts";
import { type Palette, rgb } from "../../../styles/palette.ts";
import type { Context } from "../view.ts";

/**
 * The thumbnails of heads, cropped to the chosen segments, and their aspect.
 *
 * @param wholeOf the thumbnail of a head, of all segments; that of its attention if it is missing
 */
export function thumbnailsOf(
  { state, store }: Context,
  kind: Choices["thumbnails"],
  wholeOf?: (head: Head) => Thumbnail,
) {
  const stack = state.shown.stack.value;
  const own = ({ layer, head }: Head) => store.stack(stack.name).thumbnail(layer.number, head);
  // Means over texts of any length are square, and of whole texts.
  const ofMany = store.manifest.texts !== null;
  const segments = ofMany ? "all" : shownSegments(state.segments.value, stack);
  const { queries, keys } = shownTokens(segments, stack);
  // The cells of a matrix are square.
  const square = Math.min(Math.max(keys.length / queries.length, 1 / 3), 3);
  return {
    /** The width of a thumbnail divided by its height. */
    aspect: ofMany || kind === "lines" ? 1 : square,
    thumbnailOf: (head: Head) => cropped((wholeOf ?? own)(head), stack, segments),
  };
}

/** The remark on what is not of the chosen segments alone; "" if all are chosen. */
export function segmentsText(store: Store, stack: StackInfo, chosen: Segments): string {
  if (!leavesOut(chosen, stack)) return "";
  const shown = store.manifest.texts === null ? shownSegments(chosen, stack) : "all";
  if (shown === "all") return "pictures and numbers are of whole heads";
  const like = store.stack(stack.name).thumbnail(stack.layers[0].number, 0);
  const shared = sharesCells(like, stack, shown);
  const numbers =
    chosen === "content" ? "numbers count special tokens, too" : "numbers are of whole heads";
  return `${numbers}${shared ? "; the pictures’ edges hold other tokens, too" : ""}`;
}

export function paintThumbnail(
  painter: Painter,
  ratio: number,
  kind: Choices["thumbnails"],
  thumbnail: Thumbnail,
  box: Box,
  color: string,
  palette: Palette,
): void {
  const pixels =
    kind === "lines"
      ? linesOf(thumbnail, color, palette, box, ratio)
      : matrixOf(thumbnail, color, palette);
  painter.save();
  roundedClip(painter, box, palette);
  painter.imageSmoothingEnabled = kind === "lines";
  painter.drawImage(imageCanvas(pixels), ...box);
  painter.restore();
}

/** Fill a box with round corners, and paint within it alone. */
export function roundedClip(painter: Painter, box: Box, { paper }: Palette): void {
  painter.fillStyle = paper;
  painter.beginPath();
  painter.roundRect(...box, Math.min(5, box[2] / 10, box[3] / 10));
  painter.fill();
  painter.clip();
}

/** The colour of each cell: of a difference, that of its sign. */
function inks({ signed, levels }: Thumbnail, color: string, { positive, negative }: Palette) {
  if (!signed) {
    const ink = rgb(color);
    return () => ink;
  }
  const [above, below] = [rgb(positive), rgb(negative)];
  return (cell: number) => (levels[cell] < 0 ? below : above);
}

/** A pixel per cell, with the cell's level as its opacity. */
function matrixOf(thumbnail: Thumbnail, color: string, palette: Palette): ImageData {
  const { rows, columns, levels } = thumbnail;
  const pixels = new ImageData(columns, rows);
  const inkOf = inks(thumbnail, color, palette);
  levels.forEach((level, n) => {
    pixels.data.set(inkOf(n), n * 4);
    pixels.data[n * 4 + 3] = Math.abs(level) * 17;
  });
  return pixels;
}

/** The largest thickness of a curve as a share of a token's height. */
const THICKEST = 1 / 3;

/**
 * A curve per cell, from its query on the left to its key on the right. Its opacity lies between
 * its level, with which the many faint curves would add up to a blot, and its weight, the square of
 * the level, with which little would be visible if several tokens share the weight.
 */
function linesOf(
  thumbnail: Thumbnail,
  color: string,
  palette: Palette,
  [, , width, height]: Box,
  ratio: number,
): ImageData {
  const [across, down] = [width, height].map((side) => Math.max(1, Math.round(side * ratio)));
  const { rows, columns, levels } = thumbnail;
  const field = new LineField(across, down);
  const inkOf = inks(thumbnail, color, palette);
  const thickness = Math.min(ratio, (down / Math.max(rows, columns)) * THICKEST);
  levels.forEach((level, n) => {
    if (level === 0) return;
    const [query, key] = [Math.floor(n / columns), n % columns];
    const [from, to] = [(query + 0.5) / rows, (key + 0.5) / columns];
    field.add(from * down, to * down, thickness, inkOf(n), (Math.abs(level) / 15) ** 1.5);
  });
  return field.image();
}
