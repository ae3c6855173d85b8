/** The curve of the lines, from 0 to 1, level at both ends. */

export const ease = (t: number): number => t * t * (3 - 2 * t);

export const steepness = (t: number): number => 6 * t * (1 - t);
