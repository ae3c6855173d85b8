/** Unpacks what a page has in it: its program, which is most of the page of a short text, and thumbnails. */

import { fromBase85, inflate } from "../basics/bytes.ts";
import { oncePerPage } from "../basics/once-per-page.ts";

export const textOf = (name: string) => document.querySelector(`[data-${name}]`)?.textContent ?? "";

export async function startProgram(): Promise<void> {
  try {
    const packed = new Blob([fromBase85(textOf("program"))]);
    const stream = packed.stream().pipeThrough(new DecompressionStream("deflate"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.body.append(script);
  } catch {
    const waiting = document.querySelector(".waiting");
    if (waiting) {
      waiting.textContent =
        "This page is damaged, or this browser is older than 2023 and cannot unpack it.";
    }
  }
}

export interface PackedThumbnails {
  /** The size of the unpacked thumbnails. */
  readonly bytes: number;
  readonly data: string;
}

/** More than `attnwidget/wire/manifest.py` writes, so that no damaged page fills the memory. */
const MOST_BYTES = 1 << 26;

/** The thumbnails of a record, which the first script unpacks while it unpacks the program. */
export const unpacked = ({ bytes, data }: PackedThumbnails): Promise<Uint8Array> =>
  oncePerPage(data, async () => {
    if (bytes > MOST_BYTES) throw new Error("This record has too many thumbnails.");
    return inflate(fromBase85(data), bytes, "record");
  });
