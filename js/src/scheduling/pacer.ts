/** When to show what there is so far. */

/** The first time soon, so that there is something to see; then so that showing costs little. */
const FIRST_MS = 24;
const EVERY_MS = 150;
/** Of the time, at most one part in so many goes into showing. */
const SHARE = 5;

/** Tells whether it is time to show; what happens from then on until it is asked again is showing. */
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
