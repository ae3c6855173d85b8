/** Long drawing, a few steps at a time, so that the page answers in between. */

/** How long drawing may hold up the page at a time. */
const SLICE_MS = 12;

/**
 * Take steps 0 to `count` - 1, the first of them at once. Returns what stops it.
 *
 * @param after told after each slice whether it was the last.
 */
export function inSlices(
  count: number,
  step: (index: number) => void,
  after: (done: boolean) => void = () => {},
): () => void {
  let next = 0;
  let frame = 0;
  const slice = () => {
    const until = performance.now() + SLICE_MS;
    while (next < count && performance.now() < until) step(next++);
    if (next < count) frame = requestAnimationFrame(slice);
    after(next >= count);
  };
  slice();
  return () => cancelAnimationFrame(frame);
}
