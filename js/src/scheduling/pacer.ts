/** Decides when to show an unfinished picture. */

/** Soon at first, so that there is something to see; later rarely, so that showing costs little. */
const FIRST_MS = 24;
const EVERY_MS = 150;
/** Showing takes at most one part in so many of the time. */
const SHARE = 5;

/** Returns a function that says if it is time to show; until its next call counts as showing. */
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
