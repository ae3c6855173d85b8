/** Long work, a little at a time, so that the page answers in between. */

/** The longest time that a slice holds up the page. */
const SLICE_MS = 8;

/** Do work that pauses often, the first slice of it at once. Returns what stops it. */
export function sliced(work: Iterator<void>): () => void {
  let frame = 0;
  let [busy, stopped] = [false, false];
  const slice = () => {
    const until = performance.now() + SLICE_MS;
    busy = true;
    let done: boolean | undefined;
    do done = work.next().done;
    while (!done && !stopped && performance.now() < until);
    busy = false;
    // It may be stopped by what it does itself.
    if (stopped) work.return?.();
    else if (!done) frame = requestAnimationFrame(slice);
  };
  slice();
  return () => {
    stopped = true;
    cancelAnimationFrame(frame);
    if (!busy) work.return?.();
  };
}

/** Take steps 0 to `count` - 1, the first of them at once. Returns what stops it. */
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
