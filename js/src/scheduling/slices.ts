/** Long work in short slices, so that the page stays responsive, and pictures of it before it ends. */

/** The longest duration of a slice. */
const SLICE_MS = 8;

/** Do work that yields often, its first slice at once. Returns a function that stops it. */
export function sliced(work: Iterator<void>): () => void {
  // A message that the page sends to itself comes after the input and the frames that wait already,
  // and does not wait for the next frame.
  const { port1: sender, port2: receiver } = new MessageChannel();
  let [busy, stopped] = [false, false];
  const end = () => {
    receiver.close();
    work.return?.();
  };
  const slice = () => {
    // A message sent before the port was closed may still arrive.
    if (stopped) return;
    const until = performance.now() + SLICE_MS;
    busy = true;
    let done: boolean | undefined;
    try {
      do done = work.next().done;
      while (!done && !stopped && performance.now() < until);
    } catch (error) {
      end();
      throw error;
    } finally {
      busy = false;
    }
    // The work itself may have stopped it.
    if (done || stopped) end();
    else sender.postMessage(null);
  };
  receiver.onmessage = slice;
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

/** The delay of the first unfinished picture, and the least time between others. */
const FIRST_MS = 24;
const EVERY_MS = 150;
/** The time spent on showing is at most 1 / SHARE of the total. */
const SHARE = 5;

/**
 * Returns a function that is true when it is time to show the picture. The time from then until its
 * next call counts as spent on showing.
 */
export function pacer(): () => boolean {
  let next = performance.now() + FIRST_MS;
  let since: number | null = null;
  return () => {
    const now = performance.now();
    if (since !== null) {
      next = now + Math.max(EVERY_MS, SHARE * (now - since));
      since = null;
    }
    if (now < next) return false;
    since = now;
    return true;
  };
}
