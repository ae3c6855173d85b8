/** Paints the thumbnails of a layer of the model view. */

import type { Thumbnail } from "../../data/codec.ts";
import type { Head } from "../../data/manifest.ts";
import type { Paint } from "../../painting/painter.ts";
import type { Choices } from "../../state/choices.ts";
import type { Palette } from "../../styles/palette.ts";
import type { Coloring } from "../shared/all-heads/color.ts";
import type { Row } from "../shared/all-heads/order.ts";
import { paintThumbnail } from "../shared/all-heads/thumbnail.ts";
import type { ModelLayout } from "./layout.ts";

export interface Painting {
  readonly layout: ModelLayout;
  readonly kind: Choices["thumbnails"];
  readonly coloring: Coloring;
  readonly palette: Palette;
  thumbnailOf(head: Head): Thumbnail;
}

/** Returns a function that paints a layer from its left upper corner. */
export function rowPaint(
  { layout, kind, coloring, palette, thumbnailOf }: Painting,
  { layer, heads }: Row,
): Paint {
  const { across, down, gap } = layout;
  return (painter, ratio) => {
    heads.forEach((head, column) => {
      const x = column * (across + gap) + gap / 2;
      const color = coloring.colorOf({ layer, head });
      const thumbnail = thumbnailOf({ layer, head });
      paintThumbnail(painter, ratio, kind, thumbnail, [x, 0, across, down], color, palette);
      painter.fillStyle = color;
      painter.fillRect(x + 4, down + 3, across - 8, 2.5);
    });
  };
}
