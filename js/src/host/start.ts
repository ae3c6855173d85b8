/** The first script of a page: unpacks and starts the program, most of the page of a short text. */

import { fromBase85 } from "../basics/bytes.ts";
import { type PackedThumbnails, unpacked } from "./thumbnails.ts";

const textOf = (name: string) => document.querySelector(`[data-${name}]`)?.textContent ?? "";

async function start(): Promise<void> {
  try {
    const packed = new Blob([fromBase85(textOf("program"))]);
    const stream = packed.stream().pipeThrough(new DecompressionStream("deflate"));
    const program = new Response(stream).text();
    unpackThumbnails();
    const script = document.createElement("script");
    script.textContent = await program;
    document.body.append(script);
  } catch {
    const waiting = document.querySelector(".waiting");
    if (waiting) {
      waiting.textContent =
        "This page is damaged, or this browser is older than 2023 and cannot unpack it.";
    }
  }
}

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

void start();
