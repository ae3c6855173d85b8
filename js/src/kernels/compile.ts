/** Compiles the WebAssembly kernels. */

import kernels from "inline:kernels";
import { useModule } from "./compiled.ts";

let asked: Promise<void> | null = null;

/** Compile WebAssembly once; resolves even if the page's policy forbids it. */
export function compiled(): Promise<void> {
  asked ??= compile();
  return asked;
}

async function compile(): Promise<void> {
  try {
    const bytes = Uint8Array.from(atob(kernels), (character) => character.charCodeAt(0));
    useModule(await WebAssembly.compile(bytes));
  } catch {
    // The TypeScript kernels stay in use.
  }
}
