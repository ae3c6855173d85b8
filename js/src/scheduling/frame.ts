/** Limits work to once per frame. */

/** The longest delay, since hidden pages have no frames. */
const AT_LATEST_MS = 100;

/**
 * Call `work` in the next frame, after `AT_LATEST_MS`, or at once when the page is hidden, possibly
 * for good. Returns a function that cancels it.
 */
export function nextFrame(work: () => void): () => void {
  const controller = new AbortController();
  const cancel = () => {
    controller.abort();
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  const once = () => {
    cancel();
    work();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, AT_LATEST_MS);
  document.addEventListener("visibilitychange", once, controller);
  return cancel;
}

/**
 * Wrap `act` so that it runs at once, but at most once per frame: of the calls in between, the last
 * runs in the next frame. For pointer moves, which are more frequent than frames.
 */
export function perFrame<Value>(act: (value: Value) => void) {
  let frame = 0;
  let waiting: { value: Value } | null = null;
  const next = () => {
    frame = 0;
    const last = waiting;
    waiting = null;
    if (last) run(last.value);
  };
  const run = (value: Value) => {
    if (frame) {
      waiting = { value };
      return;
    }
    frame = requestAnimationFrame(next);
    act(value);
  };
  return Object.assign(run, {
    /** Drop the value that waits for the next frame. */
    cancel() {
      waiting = null;
    },
  });
}
