/** A memory for the kernels of one picture, reused by the next, which is faster. */

import { kernelsFor } from "./compiled.ts";
import type { Kernels } from "./kernels.ts";

interface Memory {
  readonly kernels: Kernels;
  readonly numbers: number;
}

let idle: Memory | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/** The time after which memory that nothing uses is given up. */
const KEPT_MS = 500;

/** A memory that is larger than needed by more than this factor is not reused. */
const WASTE = 4;

/** @param numbers the total length of all arrays */
export function workspace(numbers: number) {
  const fits = idle && idle.numbers >= numbers && idle.numbers <= WASTE * numbers;
  const memory = fits && idle ? idle : { kernels: kernelsFor(numbers), numbers };
  idle = null;
  clearTimeout(timer);
  memory.kernels.clear();
  return {
    kernels: memory.kernels,
    /** Give the memory back; no array of it may be used after this. */
    release() {
      idle = memory;
      timer = setTimeout(() => {
        idle = null;
      }, KEPT_MS);
    },
  };
}
