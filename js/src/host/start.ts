/** The first script of a page. */

import { startProgram, textOf } from "./program.ts";
import { type PackedThumbnails, unpacked } from "./thumbnails.ts";

function unpackThumbnails(): void {
  try {
    const { records } = JSON.parse(textOf("content"));
    for (const { overview } of records as { overview: PackedThumbnails | null }[]) {
      if (overview) unpacked(overview).catch(() => {});
    }
  } catch {
    // The program says what is wrong with the page.
  }
}

const started = startProgram();
// While the program is unpacked.
unpackThumbnails();
void started;
