/** The record's image, decoded once for all views of the record. */

import { type ReadonlySignal, signal } from "@preact/signals-core";
import type { Manifest } from "../../../data/manifest.ts";

const decoded = new WeakMap<Manifest, ReadonlySignal<HTMLCanvasElement | null>>();

/** The image; null until it is decoded, or if the browser cannot decode it. */
export function imageOf(manifest: Manifest): ReadonlySignal<HTMLCanvasElement | null> {
  const known = decoded.get(manifest);
  if (known) return known;
  const image = signal<HTMLCanvasElement | null>(null);
  decoded.set(manifest, image);
  if (manifest.image) {
    decode(manifest.image).then(
      (canvas) => {
        image.value = canvas;
      },
      // The patches are still shaded, without the image behind them.
      () => {},
    );
  }
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
