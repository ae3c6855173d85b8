/** Decides when to show an unfinished picture. */

/** The delay of the first picture, and the least time between others. */
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
