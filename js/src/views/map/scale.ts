/** Linear scales from numbers to CSS pixels, with round ticks. */

export interface Scale {
  readonly ticks: readonly number[];
  /** The decimals that tell the ticks apart. */
  readonly digits: number;
  /** The place of a value in CSS pixels. */
  at(value: number): number;
}

/** The empty space on either side of the values, as a share of their range. */
const MARGIN = 0.04;

/**
 * @param values one at least
 * @param start the place of the lowest end, in CSS pixels, and `end` that of the highest
 * @param distance the least distance of two ticks
 */
export function scaleOf(
  [least, most]: readonly [number, number],
  [start, end]: readonly [number, number],
  distance: number,
): Scale {
  // Equal values stand in the middle.
  const range = most - least || Math.abs(most) || 1;
  const [low, high] = [least - MARGIN * range, most + MARGIN * range];
  const step = roundStep(((high - low) * distance) / Math.abs(end - start));
  const ticks: number[] = [];
  for (let n = Math.ceil(low / step); n * step <= high; n++) ticks.push(n * step);
  return {
    ticks,
    digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)),
    at: (value) => start + ((value - low) / (high - low)) * (end - start),
  };
}

/** The least of 1, 2 and 5 times a power of ten that is not below `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}
