/** The extremes of long lists, which would overflow the stack as arguments of `Math.max`. */

export function largestOf(values: ArrayLike<number>): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let n = 0; n < values.length; n++) most = Math.max(most, values[n]);
  return most;
}

export function smallestOf(values: ArrayLike<number>): number {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < values.length; n++) least = Math.min(least, values[n]);
  return least;
}

export type Range = readonly [low: number, high: number];

/** The shares of values that lie below the range, and below its upper end. */
const ENDS = [0.025, 0.975] as const;

/** The range of 95% of the values; null without any. */
export function middleRange(values: readonly number[]): Range | null {
  if (!values.length) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = ENDS.map((share) => quantile(sorted, share));
  return [low, high];
}

/** Linear between the values on either side. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}
