/** The same kernels twice: in JavaScript, and in WebAssembly. */

import {
  compiled,
  compiledModule,
  scriptKernels,
  wasmKernels,
} from "../../src/kernels/compiled.ts";
import type { Kernels } from "../../src/kernels/kernels.ts";

await compiled();

/** Fails where this browser has no WebAssembly. */
export const wasm = (numbers = 1 << 20): Kernels =>
  wasmKernels(compiledModule() as WebAssembly.Module, numbers);

export const script = (numbers = 1 << 20): Kernels => scriptKernels(numbers);

export const BOTH: readonly (readonly [name: string, make: () => Kernels])[] = [
  ["JavaScript", script],
  ["WebAssembly", wasm],
];

/** A copy where these kernels can work on it. */
export function put(kernels: Kernels, values: ArrayLike<number>): Float32Array {
  const out = kernels.floats(values.length);
  out.set(values);
  return out;
}

/** The largest difference, as a share of the largest number there is (or of 1). */
export function difference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let [most, scale] = [0, 1];
  for (let n = 0; n < expected.length; n++) {
    if (Object.is(actual[n], expected[n])) continue;
    // A number that is none differs from everything.
    const apart = Math.abs(actual[n] - expected[n]);
    most = apart <= most ? most : Number.isNaN(apart) ? Number.POSITIVE_INFINITY : apart;
    scale = Math.max(scale, Math.abs(expected[n]));
  }
  return actual.length === expected.length ? most / scale : Number.POSITIVE_INFINITY;
}
