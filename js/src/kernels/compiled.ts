/** The hot loops over a memory of their own: in WebAssembly, or in JavaScript where a page forbids that. */

import binary from "inline:kernels";
import { oncePerPage } from "../basics/once-per-page.ts";
import type { Kernels } from "./kernels.ts";
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

type Loops = typeof script;
type Loop = (...args: number[]) => number | undefined;

const PAGE = 65536;

/** The alignment of arrays in bytes, and the floats for gaps between them and what loops keep. */
const ALIGNMENT = 16;
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

/** @param free the first address that the loops do not use themselves */
function kernelsIn(buffer: ArrayBuffer, loops: Loops, free: number): Kernels {
  let end = free;
  return {
    floats(count) {
      const array = new Float32Array(buffer, end, count);
      end += Math.ceil((4 * count) / ALIGNMENT) * ALIGNMENT;
      return array.fill(0);
    },
    clear() {
      end = free;
    },
    dots(vector, rows, count, scale, out) {
      loops.dots(at(vector), at(rows), count, vector.length, scale, at(out));
    },
    turn(values, step, matrix, work, out) {
      const dim = Math.sqrt(matrix.length);
      loops.turn(at(values), values.length / dim, dim, step, at(matrix), at(work), at(out));
    },
    largest: (values) => loops.largest(at(values), values.length),
    exponentials: (values, peak) => loops.exponentials(at(values), values.length, peak),
    multiply: (values, factor) => loops.multiply(at(values), values.length, factor),
    weights(scores, peaks, factors) {
      loops.weights(at(scores), scores.length, at(peaks), at(factors));
    },
    mix(rows, inks, out) {
      const matrices = inks.length / 4;
      loops.mix(at(rows), matrices, rows.length / matrices, out.length / 4, at(inks), at(out));
    },
    curves(sums, height, bends, first, list, cover) {
      const [width, columns, curves] = [
        sums.length / 4 / height,
        bends.length / 3,
        list.length / 8,
      ];
      const own = bends.subarray(first);
      loops.curves(at(sums), width, height, at(own), columns, at(list), curves, cover);
    },
    image(sums, out, stride, light) {
      loops.image(at(sums), sums.length / 4, at(out), stride, light);
    },
    merge(left, right, span, rise) {
      loops.merge(at(left), at(right), left.length / 4, span, rise);
    },
    project(line, start, step, gain, sums) {
      loops.project(at(line), line.length / 4, start, step, gain, at(sums), sums.length / 4);
    },
  };
}

const at = (array: Float32Array | Float64Array | Uint8ClampedArray): number => array.byteOffset;
