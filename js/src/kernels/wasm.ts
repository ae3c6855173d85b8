/** The kernels in WebAssembly, with a memory of fixed size. */

import { BENDS, CURVE } from "./curve.ts";
import type { Kernels } from "./kernels.ts";

/** The functions of `assembly/index.ts`; an array is passed as its address in bytes. */
type Exports = Readonly<Record<string, (...args: number[]) => number>>;

const PAGE = 65536;

/** The alignment of arrays in bytes, and the floats for gaps between them and what kernels keep. */
const ALIGNMENT = 16;
const SLACK = 1024;

/**
 * @param numbers the total length of all arrays
 * @throws if there is not enough memory.
 */
export function wasmKernels(module: WebAssembly.Module, numbers: number): Kernels {
  const pages = Math.ceil((4 * (numbers + SLACK)) / PAGE);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const instance = new WebAssembly.Instance(module, { env: { memory } });
  const wasm = instance.exports as Exports;
  const first: number = (instance.exports.free as WebAssembly.Global).value;
  let end = first;
  return {
    floats(count) {
      const array = new Float32Array(memory.buffer, end, count);
      end += Math.ceil((4 * count) / ALIGNMENT) * ALIGNMENT;
      return array.fill(0);
    },
    clear() {
      end = first;
    },
    dots(vector, rows, count, scale, out) {
      wasm.dots(at(vector), at(rows), count, vector.length, scale, at(out));
    },
    turn(values, step, matrix, work, out) {
      const dim = Math.sqrt(matrix.length);
      wasm.turn(at(values), values.length / dim, dim, step, at(matrix), at(work), at(out));
    },
    largest: (values) => wasm.largest(at(values), values.length),
    exponentials: (values, peak) => wasm.exponentials(at(values), values.length, peak),
    multiply: (values, factor) => wasm.multiply(at(values), values.length, factor),
    weights(scores, peaks, factors) {
      wasm.weights(at(scores), scores.length, at(peaks), at(factors));
    },
    mix(rows, inks, out) {
      const matrices = inks.length / 4;
      wasm.mix(at(rows), matrices, rows.length / matrices, out.length / 4, at(inks), at(out));
    },
    curves(sums, height, bends, list, cover) {
      const width = bends.length / BENDS;
      wasm.curves(at(sums), width, height, at(bends), at(list), list.length / CURVE, cover);
    },
    image(sums, out, stride, light) {
      wasm.image(at(sums), sums.length / 4, at(out), stride, light);
    },
    merge(left, right, span, rise) {
      wasm.merge(at(left), at(right), left.length / 4, span, rise);
    },
    project(line, start, step, gain, sums) {
      wasm.project(at(line), line.length / 4, start, step, gain, at(sums), sums.length / 4);
    },
  };
}

const at = (array: Float32Array | Float64Array | Uint8ClampedArray): number => array.byteOffset;
