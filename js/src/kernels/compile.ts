/** Compiles the kernels. */

import kernels from "inline:kernels";
import { useModule } from "./compiled.ts";

let asked: Promise<void> | null = null;

/** Resolves when WebAssembly is compiled, or known to be forbidden by the page's policy. */
export function compiled(): Promise<void> {
  asked ??= compile();
  return asked;
}

async function compile(): Promise<void> {
  try {
    const bytes = Uint8Array.from(atob(kernels), (character) => character.charCodeAt(0));
    useModule(await WebAssembly.compile(bytes));
  } catch {
    // TypeScript it is.
  }
}
