/** Work once per frame: put off to the next frame, or done at once and no more until then. */

/** Pages that nobody sees have no frames. */
const AT_LATEST_MS = 100;

/**
 * Call `work` with the next frame, or a little later, or at once when the page goes out of sight, which
 * may be for good. Returns what calls it off.
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

export interface PerFrame<Value> {
  (value: Value): void;
  /** Forget what waits for the next frame. */
  cancel(): void;
}

/**
 * `act`, at once, but no more than once per frame: of what comes in between, the last waits for the
 * next. For the pointer, which does more than the screen can show.
 */
export function perFrame<Value>(act: (value: Value) => void): PerFrame<Value> {
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
    cancel() {
      waiting = null;
    },
  });
}
