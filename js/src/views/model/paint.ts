/** The pictures of the model view, painted a few layers at a time. */

import type { Thumbnail } from "../../data/codec.ts";
import { sizeCanvas } from "../../parts/dom.ts";
import { inSlices } from "../../scheduling/slices.ts";
import type { Choices } from "../../state/choices.ts";
import type { Palette } from "../../styles/theme.ts";
import type { Coloring } from "./color.ts";
import type { ModelLayout } from "./layout.ts";
import type { Head, Row } from "./order.ts";
import { paintThumbnail } from "./thumbnail.ts";

export interface Painting {
  readonly rows: readonly Row[];
  readonly canvases: readonly HTMLCanvasElement[];
  readonly layout: ModelLayout;
  readonly kind: Choices["thumbnails"];
  readonly coloring: Coloring;
  readonly palette: Palette;
  thumbnailOf(head: Head): Thumbnail;
}

/** Paint every layer, from the first on. Returns what stops it. */
export function paintRows(painting: Painting): () => void {
  return inSlices(painting.rows.length, (row) => paintRow(painting, row));
}

function paintRow(
  { rows, canvases, layout, kind, coloring, palette, thumbnailOf }: Painting,
  index: number,
): void {
  const { across, down, gap, below, pictures } = layout;
  const { layer, heads } = rows[index];
  const target = sizeCanvas(canvases[index], pictures, down + below);
  heads.forEach((head, column) => {
    const x = column * (across + gap) + gap / 2;
    const color = coloring.of({ layer, head });
    const thumbnail = thumbnailOf({ layer, head });
    paintThumbnail(target, kind, thumbnail, [x, 0, across, down], color, palette);
    target.fillStyle = color;
    target.fillRect(x + 4, down + 3, across - 8, 2.5);
  });
}
