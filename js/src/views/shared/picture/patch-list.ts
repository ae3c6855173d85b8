/** A list of tokens by weight, each with the part of an image that it stands for. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Grid } from "../../../data/manifest.ts";
import { paintCanvas } from "../../../painting/canvas.ts";
import { el } from "../../../parts/dom.ts";
import type { Context } from "../view.ts";
import { imageOf, paintImage, partOf } from "./paint.ts";

const THUMBNAIL = 24;
const SQUARE = { width: THUMBNAIL, height: THUMBNAIL };

export interface ListedPatch {
  readonly token: number;
  readonly name: string;
  readonly number: string;
  /** The length of its bar, from 0 to 1, and the colour. */
  readonly share: number;
  readonly color: string;
  /** Its grid and its patch there; null for a token without one. */
  readonly place: readonly [Grid, number] | null;
}

/** @param most the number of rows */
export function patchList(
  { scope, store, palette }: Context,
  most: number,
  listed: ReadonlySignal<readonly ListedPatch[]>,
  point: (token: number | null) => void,
  choose: (token: number) => void,
): HTMLElement {
  const rows = Array.from({ length: most }, (_, place) => {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const name = el("span", { class: "name" });
    const fill = el("span");
    const number = el("span", { class: "number" });
    const bar = el("span", { class: "weight-bar", "aria-hidden": "true" }, fill);
    const row = el("li", {}, canvas, name, bar, number);
    const withToken = (act: (token: number) => void) => () => {
      const found = listed.peek()[place];
      if (found) act(found.token);
    };
    row.addEventListener("pointermove", withToken(point));
    row.addEventListener("click", withToken(choose));
    return { row, canvas, name, fill, number };
  });
  const list = el("ol", {}, ...rows.map(({ row }) => row));
  list.addEventListener("pointerleave", () => point(null));
  scope.effect(() => {
    const [all, colors] = [listed.value, palette.value];
    rows.forEach(({ row, canvas, name, fill, number }, at) => {
      const found = all[at];
      // Rows without a token keep their place, so that nothing below moves.
      row.style.visibility = found ? "" : "hidden";
      if (!found) return;
      name.textContent = found.name;
      name.title = found.name;
      number.textContent = found.number;
      fill.style.width = `${100 * found.share}%`;
      fill.style.background = found.color;
      const { place } = found;
      const image = place && imageOf(store.manifest.images[place[0].image]).value;
      canvas.style.visibility = image ? "" : "hidden";
      if (!place || !image) return;
      const part = { box: partOf(place[1], place[0]) };
      paintCanvas(canvas, THUMBNAIL, THUMBNAIL, (painter) =>
        paintImage(painter, image, part, null, SQUARE, colors),
      );
    });
  });
  return list;
}
