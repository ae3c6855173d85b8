/** The choice of kernels: WebAssembly where the page may have it, else TypeScript. */

import type { Kernels } from "./kernels.ts";
import { typescript } from "./typescript.ts";
import { wasmKernels } from "./wasm.ts";

let module: WebAssembly.Module | null = null;

export const compiledModule = (): WebAssembly.Module | null => module;

/** Use these kernels for everything that is created from now on. */
export function useModule(compiled: WebAssembly.Module | null): void {
  module = compiled;
}

/** @param numbers that all arrays hold together. */
export function kernelsFor(numbers: number): Kernels {
  if (!module) return typescript;
  try {
    return wasmKernels(module, numbers);
  } catch {
    // No room for a memory of this size, or for one more.
    return typescript;
  }
}
