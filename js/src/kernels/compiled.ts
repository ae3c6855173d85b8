/** The choice between the WebAssembly and the TypeScript kernels. */

import type { Kernels } from "./kernels.ts";
import { typescript } from "./typescript.ts";
import { wasmKernels } from "./wasm.ts";

let module: WebAssembly.Module | null = null;

export const compiledModule = (): WebAssembly.Module | null => module;

export function useModule(compiled: WebAssembly.Module | null): void {
  module = compiled;
}

/** @param numbers the length of all arrays */
export function kernelsFor(numbers: number): Kernels {
  if (!module) return typescript;
  try {
    return wasmKernels(module, numbers);
  } catch {
    // There is not enough memory.
    return typescript;
  }
}
