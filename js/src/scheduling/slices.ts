/** Long work in short slices, so that the page stays responsive. */

import { nextFrame } from "./frame.ts";

/** The longest duration of a slice. */
const SLICE_MS = 8;

/** Do work that yields often, its first slice at once. Returns a function that stops it. */
export function sliced(work: Iterator<void>): () => void {
  let cancel = () => {};
  let [busy, stopped] = [false, false];
  const slice = () => {
    const until = performance.now() + SLICE_MS;
    busy = true;
    let done: boolean | undefined;
    do done = work.next().done;
    while (!done && !stopped && performance.now() < until);
    busy = false;
    // The work itself may have stopped it.
    if (stopped) work.return?.();
    else if (!done) cancel = nextFrame(slice);
  };
  slice();
  return () => {
    stopped = true;
    cancel();
    if (!busy) work.return?.();
  };
}

/** Call `step` with 0 to `count` - 1, the first call at once. Returns a function that stops it. */
export function inSlices(count: number, step: (index: number) => void): () => void {
  return sliced(
    (function* () {
      for (let index = 0; index < count; index++) {
        step(index);
        yield;
      }
    })(),
  );
}
