/** Compiles the WebAssembly kernels. */

import kernels from "inline:kernels";
import { oncePerPage } from "../basics/once-per-page.ts";
import { useModule } from "./compiled.ts";

/** Compile WebAssembly once; resolves even if the page's policy forbids it. */
export async function compiled(): Promise<void> {
  try {
    useModule(await oncePerPage(kernels, compile));
  } catch {
    // The TypeScript kernels stay in use.
  }
}

async function compile(): Promise<WebAssembly.Module> {
  const bytes = Uint8Array.from(kernels, (character) => character.charCodeAt(0) - 32);
  return WebAssembly.compile(bytes);
}
