/** The thumbnails of a page's record, which its first script unpacks while it unpacks the program. */

import { fromBase85 } from "../data/base85.ts";
import { inflate } from "../data/packed.ts";
import { oncePerPage } from "../once-per-page.ts";

export interface PackedThumbnails {
  /** How many there are. */
  readonly bytes: number;
  readonly data: string;
}

export const unpacked = ({ bytes, data }: PackedThumbnails): Promise<Uint8Array> =>
  oncePerPage(data, () => inflate(fromBase85(data), bytes, "page"));
