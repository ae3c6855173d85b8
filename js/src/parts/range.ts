/** From one place to before another. */

import { computed, type ReadonlySignal } from "@preact/signals-core";

export type Range = readonly [number, number];

/** Computed, and the same as before as long as its numbers are. */
export function computedRange(compute: () => Range): ReadonlySignal<Range> {
  let last: Range = [0, 0];
  return computed(() => {
    const next = compute();
    if (next[0] !== last[0] || next[1] !== last[1]) last = next;
    return last;
  });
}
