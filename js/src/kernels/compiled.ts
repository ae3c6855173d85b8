/** The hot loops over a memory of their own: in WebAssembly, or in JavaScript where a page forbids that. */

import binary from "inline:kernels";
import { oncePerPage } from "../basics/once-per-page.ts";
import { type Kernels, kernelsIn, type Loops } from "./kernels.ts";
import { workIn } from "./loops/builtins.ts";
import * as script from "./loops/index.ts";

let module: WebAssembly.Module | null = null;

export const compiledModule = (): WebAssembly.Module | null => module;

export function useModule(compiled: WebAssembly.Module | null): void {
  module = compiled;
}

/** Compile WebAssembly once; resolves even if the page's policy forbids it. */
export async function compiled(): Promise<void> {
  try {
    useModule(await oncePerPage(binary, compile));
  } catch {
    // JavaScript stays in use.
  }
}

async function compile(): Promise<WebAssembly.Module> {
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0) - 32);
  return WebAssembly.compile(bytes);
}

/** @param numbers the length of all arrays */
export function kernelsFor(numbers: number): Kernels {
  if (!module) return scriptKernels(numbers);
  try {
    return wasmKernels(module, numbers);
  } catch {
    // There is not enough memory.
    return scriptKernels(numbers);
  }
}

type Loop = (...args: number[]) => number | undefined;

const PAGE = 65536;

/** The floats for gaps between arrays, and for what loops keep. */
const SLACK = 1024;

const pagesFor = (numbers: number) => Math.ceil((4 * (numbers + SLACK)) / PAGE);

/** @throws if there is not enough memory. */
export function wasmKernels(module: WebAssembly.Module, numbers: number): Kernels {
  const pages = pagesFor(numbers);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const free = (exports.free as WebAssembly.Global).value;
  return kernelsIn(memory.buffer, exports as unknown as Loops, free);
}

export function scriptKernels(numbers: number): Kernels {
  const buffer = new ArrayBuffer(PAGE * pagesFor(numbers));
  const memory = {
    floats: new Float32Array(buffer),
    doubles: new Float64Array(buffer),
    bytes: new Uint8ClampedArray(buffer),
  };
  const bound = ([name, loop]: [string, unknown]) => {
    const run: Loop = (...args) => {
      workIn(memory);
      return (loop as Loop)(...args);
    };
    return [name, run] as const;
  };
  const loops = Object.fromEntries(Object.entries(script).map(bound)) as unknown as Loops;
  return kernelsIn(buffer, loops, script.free);
}
