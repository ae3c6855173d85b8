/** Long work in short slices, so that the page stays responsive. */

/** The longest duration of a slice. */
const SLICE_MS = 8;

/** Do work that yields often, its first slice at once. Returns a function that stops it. */
export function sliced(work: Iterator<void>): () => void {
  // A message to itself is handled after input and frames that wait, without waiting for a frame.
  const { port1: ring, port2: bell } = new MessageChannel();
  let [busy, stopped] = [false, false];
  const end = () => {
    bell.close();
    work.return?.();
  };
  const slice = () => {
    const until = performance.now() + SLICE_MS;
    busy = true;
    let done: boolean | undefined;
    do done = work.next().done;
    while (!done && !stopped && performance.now() < until);
    busy = false;
    // The work itself may have stopped it.
    if (done || stopped) end();
    else ring.postMessage(null);
  };
  bell.onmessage = slice;
  slice();
  return () => {
    stopped = true;
    if (!busy) end();
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
