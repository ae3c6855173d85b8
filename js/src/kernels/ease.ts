/** The curve that lines are: level at its ends, at 0 and 1. */

export const ease = (t: number): number => t * t * (3 - 2 * t);

export const steepness = (t: number): number => 6 * t * (1 - t);
