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
