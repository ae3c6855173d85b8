/** Room for one picture at a time, used again by the next: a memory costs time to make and to fill. */

import { kernelsFor } from "./compiled.ts";
import type { Kernels } from "./kernels.ts";

export interface Workspace {
  readonly kernels: Kernels;
  /** To be called when no array of it is used any more. */
  release(): void;
}

interface Room {
  readonly kernels: Kernels;
  readonly numbers: number;
}

let idle: Room | null = null;

/** A workspace this many times larger than needed is left to be freed. */
const WASTE = 4;

/** @param numbers that all arrays hold together. */
export function workspace(numbers: number): Workspace {
  const fits = idle && idle.numbers >= numbers && idle.numbers <= WASTE * numbers;
  const room = fits && idle ? idle : { kernels: kernelsFor(numbers), numbers };
  idle = null;
  room.kernels.clear();
  return {
    kernels: room.kernels,
    release() {
      idle = room;
    },
  };
}
