/** Ranges of indices, from the first to before the second. */

import { computed, type ReadonlySignal } from "@preact/signals-core";

export type Range = readonly [number, number];

/** A computed range that keeps its identity as long as its numbers stay the same. */
export function computedRange(compute: () => Range): ReadonlySignal<Range> {
  let last: Range = [0, 0];
  return computed(() => {
    const next = compute();
    if (next[0] !== last[0] || next[1] !== last[1]) last = next;
    return last;
  });
}
