/** Unpacks and starts the program of a page, which is most of the page of a short text. */

import { fromBase85 } from "../basics/bytes.ts";

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
