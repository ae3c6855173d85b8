/** The thumbnails of a page's record, which its first script unpacks while it unpacks the program. */

import { fromBase85, inflate } from "../basics/bytes.ts";
import { oncePerPage } from "../basics/once-per-page.ts";

export interface PackedThumbnails {
  /** The size of the unpacked thumbnails. */
  readonly bytes: number;
  readonly data: string;
}

/** More than `attnwidget/wire/manifest.py` writes, so that no damaged page fills the memory. */
const MOST_BYTES = 1 << 26;

export const unpacked = ({ bytes, data }: PackedThumbnails): Promise<Uint8Array> =>
  oncePerPage(data, async () => {
    if (bytes > MOST_BYTES) throw new Error("This record has too many thumbnails.");
    return inflate(fromBase85(data), bytes, "record");
  });
