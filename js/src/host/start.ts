/** The first script of a page. */

import { type PackedThumbnails, startProgram, textOf, unpacked } from "./program.ts";

void startProgram();
// While the program is unpacked.
try {
  const { records } = JSON.parse(textOf("content"));
  for (const { overview } of records as { overview: PackedThumbnails | null }[]) {
    if (overview) unpacked(overview).catch(() => {});
  }
} catch {
  // The program says what is wrong with the page.
}
